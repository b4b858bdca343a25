// SPDX-License-Identifier: MIT
#include "trace/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/host.h"
#include "base/os_error.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kLargestSegment = 1U << 20;
constexpr std::uint32_t kMostSegments = 1U << 16;
constexpr char kLogPrefix[] = "drained-";
constexpr char kLogSuffix[] = ".log";

Result<Fd> open_lock_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // Somebody else's recording may be readable only; flock is content with that.
  if (fd < 0) fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return os_error(errno, "open " + path);
  return Fd(fd);
}

int flock_operation(FileLock::Mode mode) {
  return mode == FileLock::Mode::kShared ? LOCK_SH : LOCK_EX;
}

Error bad_pool(const std::string& path, const std::string& what) {
  return {Code::kCorrupt, path + ": " + what, ""};
}

Status check_pool(const fathom_pool_header& header, std::uint64_t size, const std::string& path) {
  if (header.magic == 0) return Error{Code::kNotFound, path + ": not ready", ""};
  if (header.magic != FATHOM_POOL_MAGIC) return bad_pool(path, "not a pool");
  if (header.version > FATHOM_WIRE_VERSION) {
    return Error{Code::kUnsupported, path + ": made by a newer Fathom", "update fathom"};
  }
  const bool sane = header.segment_size > FATHOM_SEGMENT_HEADER_SIZE &&
                    header.segment_size <= kLargestSegment && header.segment_size % 8 == 0 &&
                    header.segment_count <= kMostSegments;
  if (!sane) return bad_pool(path, "damaged header");
  const std::uint64_t needed =
      FATHOM_POOL_HEADER_SIZE + std::uint64_t{header.segment_size} * header.segment_count;
  if (needed > size) return bad_pool(path, "cut off");
  return {};
}

}  // namespace

Result<FileLock> FileLock::wait(const std::string& path, Mode mode) {
  FATHOM_ASSIGN(Fd fd, open_lock_file(path));
  while (::flock(fd.get(), flock_operation(mode)) != 0) {
    if (errno != EINTR) return os_error(errno, "lock " + path);
  }
  return FileLock(std::move(fd));
}

Result<std::optional<FileLock>> FileLock::attempt(const std::string& path, Mode mode) {
  FATHOM_ASSIGN(Fd fd, open_lock_file(path));
  if (::flock(fd.get(), flock_operation(mode) | LOCK_NB) == 0) {
    return std::optional<FileLock>(FileLock(std::move(fd)));
  }
  if (errno == EWOULDBLOCK) return std::optional<FileLock>();
  return os_error(errno, "lock " + path);
}

Result<Pool> Pool::open(const std::string& path, bool writable) {
  FATHOM_ASSIGN(const File file, File::open(path, writable ? O_RDWR : O_RDONLY));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  if (size < FATHOM_POOL_HEADER_SIZE) return Error{Code::kNotFound, path + ": not ready", ""};
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* memory = ::mmap(nullptr, size, protection, MAP_SHARED, file.fd(), 0);
  if (memory == MAP_FAILED) return os_error(errno, "map " + path);
  Pool pool(path, memory, size);
  // The guest stores the magic last.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  FATHOM_TRY(check_pool(pool.header(), size, path));
  pool.segment_size_ = pool.header().segment_size;
  pool.count_ = pool.header().segment_count;
  pool.old_heads_ = pool.header().version < 3;
  struct statx times {};
  if (::statx(file.fd(), "", AT_EMPTY_PATH, STATX_BTIME, &times) == 0 &&
      (times.stx_mask & STATX_BTIME) != 0) {
    pool.made_ = times.stx_btime.tv_sec * 1000000000 + times.stx_btime.tv_nsec;
  }
  return pool;
}

Pool::Pool(std::string path, void* memory, std::size_t size)
    : path_(std::move(path)), memory_(memory), size_(size), name_hash_(fnv1a(base_name(path_))) {}

Pool::Pool(Pool&& other) noexcept
    : path_(std::move(other.path_)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(other.size_),
      segment_size_(other.segment_size_),
      count_(other.count_),
      old_heads_(other.old_heads_),
      name_hash_(other.name_hash_),
      made_(other.made_) {}

Pool& Pool::operator=(Pool&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(segment_size_, other.segment_size_);
  std::swap(count_, other.count_);
  std::swap(old_heads_, other.old_heads_);
  std::swap(name_hash_, other.name_hash_);
  std::swap(made_, other.made_);
  return *this;
}

Pool::~Pool() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

void Pool::rest() const { (void)::madvise(memory_, size_, MADV_DONTNEED); }

fathom_segment& Pool::segment(std::uint32_t index) const {
  auto* base = static_cast<std::uint8_t*>(memory_) + FATHOM_POOL_HEADER_SIZE;
  return *reinterpret_cast<fathom_segment*>(base + std::size_t{index} * segment_size_);
}

namespace {
constexpr std::uint64_t kState = UINT32_MAX;  // in the first word of a segment, of any version

fathom_segment_2& old_head(fathom_segment& segment) {
  return reinterpret_cast<fathom_segment_2&>(segment);
}
}  // namespace

Pool::Claim Pool::claim(std::uint32_t index) const {
  Claim found;
  found.word = __atomic_load_n(&segment(index).claim, __ATOMIC_SEQ_CST);
  found.state = static_cast<std::uint32_t>(found.word & kState);
  found.owner_pid = static_cast<std::uint32_t>(found.word >> 32);
  if (old_heads_)
    found.owner_pid = __atomic_load_n(&old_head(segment(index)).owner_pid, __ATOMIC_ACQUIRE);
  return found;
}

std::uint32_t Pool::generation(std::uint32_t index) const {
  fathom_segment& head = segment(index);
  return __atomic_load_n(old_heads_ ? &old_head(head).generation : &head.generation,
                         __ATOMIC_ACQUIRE);
}

bool Pool::take_over(std::uint32_t index, const Claim& found) const {
  std::uint64_t word = found.word;
  const std::uint64_t rest = old_heads_ ? word & ~kState : 0;
  return __atomic_compare_exchange_n(&segment(index).claim, &word, rest | FATHOM_SEGMENT_FULL,
                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

// The owner of a free segment is nobody, and its old records are no records: a thread that claims
// it finds it so.
void Pool::free(std::uint32_t index) const {
  fathom_segment& head = segment(index);
  __atomic_store_n(&head.owner_key, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&head.progress, FATHOM_SEGMENT_HEADER_SIZE, __ATOMIC_RELAXED);
  std::uint64_t word = FATHOM_SEGMENT_FREE;
  if (old_heads_) {
    __atomic_store_n(&old_head(head).owner_pid, 0, __ATOMIC_RELAXED);
    word |= std::uint64_t{old_head(head).generation + 1} << 32;
  } else {
    __atomic_store_n(&head.generation, head.generation + 1, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&head.claim, word, __ATOMIC_RELEASE);
}

std::span<const std::uint8_t> Pool::records(std::uint32_t index, std::uint64_t committed) const {
  const std::uint64_t end =
      std::clamp<std::uint64_t>(committed & UINT32_MAX, FATHOM_SEGMENT_HEADER_SIZE, segment_size_);
  const auto* base = reinterpret_cast<const std::uint8_t*>(&segment(index));
  return {base + FATHOM_SEGMENT_HEADER_SIZE,
          static_cast<std::size_t>(end - FATHOM_SEGMENT_HEADER_SIZE)};
}

Spool::Spool(std::string directory, const fathom_run_header& header)
    : directory_(std::move(directory)), header_(header) {}

Result<Spool> Spool::open(const std::string& directory) {
  const std::string path = join_path(directory, FATHOM_RUN_FILE);
  FATHOM_ASSIGN(const std::string bytes, read_file(path));
  fathom_run_header header{};
  if (bytes.size() < sizeof header) return Error{Code::kCorrupt, path + " is cut off", ""};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != FATHOM_RUN_MAGIC) return Error{Code::kCorrupt, path + " is damaged", ""};
  if (header.version > FATHOM_WIRE_VERSION) {
    return Error{
        Code::kUnsupported,
        path + " was made by a newer Fathom (version " + std::to_string(header.version) + ")",
        "update fathom"};
  }
  return Spool(directory, header);
}

std::string Spool::run_id() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : header_.run_id) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

fathom_run_shared Spool::shared() const {
  fathom_run_shared shared{};
  const Result<std::string> bytes = read_file(join_path(directory_, FATHOM_RUN_FILE));
  if (bytes && bytes->size() >= FATHOM_RUN_SHARED_OFFSET + sizeof shared)
    std::memcpy(&shared, bytes->data() + FATHOM_RUN_SHARED_OFFSET, sizeof shared);
  return shared;
}

bool Spool::same_boot() const {
  const std::string_view boot(header_.boot_id, strnlen(header_.boot_id, sizeof header_.boot_id));
  return boot.empty() || boot == read_host_facts().boot_id;
}

Result<std::vector<std::string>> Spool::pool_paths() const {
  FATHOM_ASSIGN(std::vector<std::string> names, list_dir(directory_));
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name.ends_with(FATHOM_POOL_SUFFIX)) paths.push_back(join_path(directory_, name));
  }
  return paths;
}

std::vector<std::uint64_t> Spool::logs() const {
  std::vector<std::uint64_t> numbers;
  const Result<std::vector<std::string>> names = list_dir(directory_);
  if (!names) return numbers;
  for (const std::string_view name : *names) {
    if (!name.starts_with(kLogPrefix) || !name.ends_with(kLogSuffix)) continue;
    const std::string_view digits = name.substr(
        sizeof kLogPrefix - 1, name.size() - (sizeof kLogPrefix - 1) - (sizeof kLogSuffix - 1));
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size())
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string Spool::log_path(std::uint64_t n) const {
  return join_path(directory_, kLogPrefix + std::to_string(n) + kLogSuffix);
}
std::string Spool::definitions_path() const { return join_path(directory_, "definitions.log"); }
std::string Spool::carry_path(std::uint64_t n) const {
  return join_path(directory_, "carry-" + std::to_string(n));
}
void Spool::restore_carried(std::uint64_t n, Decoder& decoder) const {
  if (!path_exists(carry_path(n))) return;
  const Result<std::string> carried = read_file(carry_path(n));
  decoder.restore(carried ? *carried : "unreadable");
}
std::string Spool::lock_path() const { return join_path(directory_, "lock"); }
std::string Spool::publish_lock_path() const { return join_path(directory_, "publish.lock"); }

const Schema* Spool::schema(std::uint64_t hash) {
  const auto known = schemas_.find(hash);
  if (known != schemas_.end()) return known->second.get();
  std::unique_ptr<Schema>& slot = schemas_[hash];
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, hash, 16).ptr;
  const std::string hex(digits, end);
  const std::string path =
      join_path(directory_, FATHOM_SCHEMA_PREFIX + std::string(16 - hex.size(), '0') + hex);
  const Result<std::string> text = read_file(path);
  if (!text || fnv1a(*text) != hash) return nullptr;
  Result<Schema> schema = Schema::parse(*text);
  if (schema) slot = std::make_unique<Schema>(std::move(schema).value());
  return slot.get();
}

void Spool::give_back(std::uint64_t bytes) const {
  const Result<File> file = File::open(join_path(directory_, FATHOM_RUN_FILE), O_RDWR);
  if (!file) return;
  void* memory =
      ::mmap(nullptr, FATHOM_RUN_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd(), 0);
  if (memory == MAP_FAILED) return;
  const Result<std::uint64_t> size = file->size();
  if (size && *size >= sizeof(fathom_run_header)) {
    __atomic_fetch_sub(&static_cast<fathom_run_header*>(memory)->pool_bytes, bytes,
                       __ATOMIC_RELAXED);
  }
  ::munmap(memory, FATHOM_RUN_HEADER_SIZE);
}

std::string call_name(Spool& spool, const CallInFlight& call) {
  const Schema* schema = spool.schema(call.schema);
  const EventKind* kind = schema != nullptr ? schema->find(call.kind) : nullptr;
  return kind != nullptr ? kind->name : "kind " + std::to_string(call.kind);
}

}  // namespace fathom::trace
