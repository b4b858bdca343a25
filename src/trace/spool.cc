// SPDX-License-Identifier: MIT
#include "trace/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>

#include "base/clock.h"
#include "base/host.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "trace/liveness.h"

namespace fathom::trace {
namespace {

constexpr char kLogPrefix[] = "drained-";
constexpr char kLogSuffix[] = ".log";

Result<Fd> open_lock_file(const std::string& path) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0600);
  // Somebody else's recording may be readable only; flock is content with that.
  if (fd < 0) fd = ::open(path.c_str(), O_RDONLY | kFlags);
  if (fd < 0) return os_error(errno, "open " + path);
  make_private(fd, path);
  return Fd(fd);
}

bool is_plain_file(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

int flock_operation(FileLock::Mode mode) {
  return mode == FileLock::Mode::kShared ? LOCK_SH : LOCK_EX;
}

}  // namespace

Result<FileLock> FileLock::wait(const std::string& path, Mode mode) {
  constexpr std::int64_t kPatienceNs = 30'000'000'000;
  constexpr timespec kNap{0, 5'000'000};
  FATHOM_ASSIGN(Fd fd, open_lock_file(path));
  const std::int64_t end = now_monotonic_ns() + kPatienceNs;
  while (::flock(fd.get(), flock_operation(mode) | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK) return os_error(errno, "lock " + path);
    if (now_monotonic_ns() > end)
      return Error{Code::kDenied, path + " has been locked by somebody else for 30 seconds", ""};
    ::nanosleep(&kNap, nullptr);
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

bool FileLock::is_at(const std::string& path) const {
  struct stat ours {};
  struct stat named {};
  return ::fstat(fd_.get(), &ours) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
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

bool Spool::recorded_elsewhere() const {
  return !same_boot() && is_recent(static_cast<std::int64_t>(header_.heartbeat_ns & INT64_MAX));
}

Result<std::vector<std::string>> Spool::pool_paths() const {
  FATHOM_ASSIGN(std::vector<std::string> names, list_dir(directory_));
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (!name.ends_with(FATHOM_POOL_SUFFIX)) continue;
    std::string path = join_path(directory_, name);
    if (is_plain_file(path)) paths.push_back(std::move(path));
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
    if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size() &&
        is_plain_file(join_path(directory_, name)))
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
  if (known != schemas_.end()) return known->second.parsed.get();
  KnownSchema& slot = schemas_[hash];
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, hash, 16).ptr;
  const std::string hex(digits, end);
  slot.path = join_path(directory_, FATHOM_SCHEMA_PREFIX + std::string(16 - hex.size(), '0') + hex);
  Result<std::string> text = read_file(slot.path);
  if (!text || fnv1a(*text) != hash) return nullptr;
  Result<Schema> schema = Schema::parse(*text);
  if (schema) slot.parsed = std::make_unique<Schema>(std::move(schema).value());
  slot.text = std::move(text).value();
  return slot.parsed.get();
}

Status Spool::remake() const {
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
    return os_error(errno, "make directory " + directory_ + " again");
  for (const auto& [hash, schema] : schemas_) {
    if (schema.text.empty() || is_plain_file(schema.path)) continue;
    FATHOM_TRY(write_file_atomic(schema.path, schema.text, 0600));
  }
  return {};
}

std::string call_name(Spool& spool, const CallInFlight& call) {
  const Schema* schema = spool.schema(call.schema);
  const EventKind* kind = schema != nullptr ? schema->find(call.kind) : nullptr;
  return kind != nullptr ? kind->name : "kind " + std::to_string(call.kind);
}

}  // namespace fathom::trace
