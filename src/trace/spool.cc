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
constexpr std::size_t kMostCarried = std::size_t{64} << 20;
constexpr std::size_t kMostSchema = std::size_t{4} << 20;
constexpr char kLogPrefix[] = "drained-";
constexpr char kLogSuffix[] = ".log";

int flock_operation(FileLock::Mode mode) {
  return mode == FileLock::Mode::kShared ? LOCK_SH : LOCK_EX;
}

std::string schema_name(std::uint64_t hash) {
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, hash, 16).ptr;
  const std::string hex(digits, end);
  return FATHOM_SCHEMA_PREFIX + std::string(16 - hex.size(), '0') + hex;
}

Error bad_pool(const std::string& path, const std::string& what) {
  return {Code::kCorrupt, path + ": " + what, ""};
}

}  // namespace

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

namespace {

Result<File> lock_file(const Directory& directory, std::string_view name) {
  return directory.open_file(name, O_RDWR | O_CREAT, 0600);
}

Result<bool> try_lock(const File& file, FileLock::Mode mode) {
  if (::flock(file.fd(), flock_operation(mode) | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return os_error(errno, "lock " + file.path());
}

}  // namespace

Result<FileLock> FileLock::wait(const Directory& directory, std::string_view name, Mode mode) {
  FATHOM_ASSIGN(File file, lock_file(directory, name));
  while (::flock(file.fd(), flock_operation(mode)) != 0) {
    if (errno != EINTR) return os_error(errno, "lock " + file.path());
  }
  return FileLock(std::move(file));
}

Result<std::optional<FileLock>> FileLock::attempt(const Directory& directory, std::string_view name,
                                                  Mode mode) {
  FATHOM_ASSIGN(File file, lock_file(directory, name));
  FATHOM_ASSIGN(const bool got, try_lock(file, mode));
  return got ? std::optional<FileLock>(FileLock(std::move(file))) : std::nullopt;
}

Result<std::optional<FileLock>> FileLock::attempt(const std::string& path, Mode mode) {
  FATHOM_ASSIGN(const Directory directory, Directory::open(std::string(dir_name(path))));
  return attempt(directory, base_name(path), mode);
}

Result<std::optional<FileLock>> FileLock::look(const Directory& directory, std::string_view name) {
  FATHOM_ASSIGN(File file, directory.read(name));
  FATHOM_ASSIGN(const bool got, try_lock(file, Mode::kShared));
  return got ? std::optional<FileLock>(FileLock(std::move(file))) : std::nullopt;
}

Result<Pool> Pool::open(const std::string& path, bool writable) {
  FATHOM_ASSIGN(const Directory spool, Directory::open(std::string(dir_name(path))));
  return open(spool, base_name(path), writable);
}

Result<Pool> Pool::open(const Directory& spool, std::string_view name, bool writable) {
  // A program that changed its user made pools as that user.
  FATHOM_ASSIGN(const File file,
                spool.open_file(name, writable ? O_RDWR : O_RDONLY, 0, Directory::Owner::kAnybody));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  if (size < FATHOM_POOL_HEADER_SIZE)
    return Error{Code::kNotFound, file.path() + ": not ready", ""};
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* memory = ::mmap(nullptr, size, protection, MAP_SHARED, file.fd(), 0);
  if (memory == MAP_FAILED) return os_error(errno, "map " + file.path());
  Pool pool(file.path(), memory, size);
  // The guest stores the magic last.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  FATHOM_TRY(check_pool(pool.header(), size, file.path()));
  pool.segment_size_ = pool.header().segment_size;
  pool.count_ = pool.header().segment_count;
  pool.ask_date(file);
  return pool;
}

void Pool::ask_date(const File& file) {
  struct statx times {};
  if (::statx(file.fd(), "", AT_EMPTY_PATH, STATX_BTIME, &times) == 0 &&
      (times.stx_mask & STATX_BTIME) != 0) {
    made_ = times.stx_btime.tv_sec * 1000000000 + times.stx_btime.tv_nsec;
  }
}

Pool::Pool(std::string path, void* memory, std::size_t size)
    : path_(std::move(path)), memory_(memory), size_(size), name_hash_(fnv1a(base_name(path_))) {}

Pool::Pool(Pool&& other) noexcept
    : path_(std::move(other.path_)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(other.size_),
      segment_size_(other.segment_size_),
      count_(other.count_),
      name_hash_(other.name_hash_),
      made_(other.made_) {}

Pool& Pool::operator=(Pool&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(segment_size_, other.segment_size_);
  std::swap(count_, other.count_);
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

std::span<const std::uint8_t> Pool::records(std::uint32_t index, std::uint64_t committed) const {
  const std::uint64_t end =
      std::clamp<std::uint64_t>(committed & UINT32_MAX, FATHOM_SEGMENT_HEADER_SIZE, segment_size_);
  const auto* base = reinterpret_cast<const std::uint8_t*>(&segment(index));
  return {base + FATHOM_SEGMENT_HEADER_SIZE,
          static_cast<std::size_t>(end - FATHOM_SEGMENT_HEADER_SIZE)};
}

Spool::Spool(Directory files, const fathom_run_header& header)
    : files_(std::move(files)), header_(header) {}

Result<Spool> Spool::open(const std::string& directory) {
  FATHOM_ASSIGN(const Directory files, Directory::open_beneath(directory));
  return open(files);
}

Result<Spool> Spool::open(const Directory& directory) {
  FATHOM_ASSIGN(const File file, directory.read(FATHOM_RUN_FILE));
  const std::string& path = file.path();
  fathom_run_header header{};
  FATHOM_ASSIGN(const std::string bytes, file.read_range(0, sizeof header));
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

std::string_view Spool::boot_id() const {
  return {header_.boot_id, strnlen(header_.boot_id, sizeof header_.boot_id)};
}

bool Spool::same_boot() const {
  const std::string_view boot = boot_id();
  return boot.empty() || boot == read_host_facts().boot_id;
}

Result<std::vector<std::string>> Spool::pool_paths() const {
  FATHOM_ASSIGN(const std::vector<std::string> names, files_.names());
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name.ends_with(FATHOM_POOL_SUFFIX)) paths.push_back(files_.path_of(name));
  }
  return paths;
}

std::vector<std::uint64_t> Spool::logs() const {
  std::vector<std::uint64_t> numbers;
  const Result<std::vector<std::string>> names = files_.names();
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

std::string Spool::log_name(std::uint64_t n) { return kLogPrefix + std::to_string(n) + kLogSuffix; }
std::string Spool::log_path(std::uint64_t n) const { return files_.path_of(log_name(n)); }
std::string Spool::carry_name(std::uint64_t n) { return "carry-" + std::to_string(n); }
void Spool::restore_carried(std::uint64_t n, Decoder& decoder) const {
  if (!files_.has(carry_name(n))) return;
  const Result<std::string> carried = files_.read_whole(carry_name(n), kMostCarried);
  decoder.restore(carried ? *carried : "unreadable");
}
std::string Spool::lock_path() const { return files_.path_of(kLockFile); }

const Schema* Spool::schema(std::uint64_t hash) {
  const auto known = schemas_.find(hash);
  if (known != schemas_.end()) return known->second.get();
  std::unique_ptr<Schema>& slot = schemas_[hash];
  const Result<std::string> text = files_.read_whole(schema_name(hash), kMostSchema);
  if (!text || fnv1a(*text) != hash) return nullptr;
  Result<Schema> schema = Schema::parse(*text);
  if (schema) slot = std::make_unique<Schema>(std::move(schema).value());
  return slot.get();
}

std::vector<std::string> Spool::missing_schemas() const {
  std::vector<std::string> names;
  for (const auto& [hash, schema] : schemas_) {
    if (schema == nullptr) names.push_back(schema_name(hash));
  }
  return names;
}

void Spool::give_back(std::uint64_t bytes) const {
  const Result<File> file = files_.open_file(FATHOM_RUN_FILE, O_RDWR);
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
