// SPDX-License-Identifier: MIT
// Opens a run's directory, its locks, logs and schemas. Whoever may write there may have put
// anything into it, copied files of another run beside ours, or removed some: names say what a file
// should be, its first bytes whether it is. Waiting for a lock has a limit, since whoever holds it
// may be stopped.
#include "trace/spool/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>

#include "base/clock.h"
#include "base/hex.h"
#include "base/host.h"
#include "base/os_error.h"
#include "base/private_files.h"
#include "trace/spool/liveness.h"

namespace fathom::trace {
namespace {

// What is read whole has a bound: these files are far smaller, unless somebody made them.
constexpr std::size_t kMostCarried = std::size_t{64} << 20;
constexpr std::size_t kMostSchema = std::size_t{4} << 20;
constexpr char kLogPrefix[] = "drained-";
constexpr char kLogSuffix[] = ".log";

int flock_operation(FileLock::Mode mode) {
  return mode == FileLock::Mode::kShared ? LOCK_SH : LOCK_EX;
}

// The first bytes of the run's ID, as logs bear them.
std::uint64_t run_number(const fathom_run_header& header) {
  std::uint64_t number = 0;
  std::memcpy(&number, header.run_id, sizeof number);
  return number;
}

std::string schema_name(std::uint64_t hash) {
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, hash, 16).ptr;
  const std::string hex(digits, end);
  return FATHOM_SCHEMA_PREFIX + std::string(16 - hex.size(), '0') + hex;
}

// Locks belong to an open file (flock), and end with the process that holds them: nothing is left
// to clean up after a recorder that was killed.
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
  constexpr std::int64_t kPatienceNs = 30'000'000'000;
  constexpr timespec kNap{0, 5'000'000};
  const std::int64_t end = now_monotonic_ns() + kPatienceNs;
  while (::flock(file.fd(), flock_operation(mode) | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK) return os_error(errno, "lock " + file.path());
    if (now_monotonic_ns() > end) {
      return Error{Code::kDenied,
                   file.path() + " has been locked by another process for 30 seconds",
                   "wait until it has ended, or stop it"};
    }
    ::nanosleep(&kNap, nullptr);
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

bool FileLock::is_at(const std::string& path) const {
  struct stat ours {};
  struct stat named {};
  return ::fstat(file_.fd(), &ours) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

Spool::Spool(Directory files, const fathom_run_header& header)
    : path_(files.path()), files_(std::move(files)), header_(header) {}

Directory Spool::files() const {
  const std::scoped_lock lock(*mutex_);
  return files_;
}

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
  // Only newer ones are refused: all that was ever released is read.
  if (header.version > FATHOM_WIRE_VERSION) {
    return Error{
        Code::kUnsupported,
        path + " was made by a newer Fathom (version " + std::to_string(header.version) + ")",
        "update fathom"};
  }
  return Spool(directory, header);
}

std::string Spool::run_id() const { return to_hex(header_.run_id); }

std::string_view Spool::boot_id() const {
  return {header_.boot_id, strnlen(header_.boot_id, sizeof header_.boot_id)};
}

std::string Spool::trouble() const {
  return {header_.trouble, strnlen(header_.trouble, sizeof header_.trouble)};
}

bool Spool::same_boot() const {
  const std::string_view boot = boot_id();
  return boot.empty() || boot == this_host().boot_id;
}

bool Spool::recorded_elsewhere() const {
  return !same_boot() && is_recent(static_cast<std::int64_t>(header_.heartbeat_ns & INT64_MAX));
}

fathom_run_shared Spool::shared() const {
  fathom_run_shared shared{};
  const Result<File> file = files().read(FATHOM_RUN_FILE);
  const Result<std::string> bytes =
      file ? file->read_range(FATHOM_RUN_SHARED_OFFSET, sizeof shared) : std::string();
  if (bytes && bytes->size() == sizeof shared) std::memcpy(&shared, bytes->data(), sizeof shared);
  return shared;
}

Result<std::vector<std::string>> Spool::pool_paths() const {
  FATHOM_ASSIGN(const std::vector<std::string> names, files().names());
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name.ends_with(FATHOM_POOL_SUFFIX)) paths.push_back(files().path_of(name));
  }
  return paths;
}

// Its first entry tells. One that has none yet, or is from an older recorder, is what its name
// says.
bool Spool::is_copy(std::uint64_t log) const {
  {
    const std::scoped_lock lock(*mutex_);
    if (own_logs_.contains(log)) return false;
  }
  constexpr std::size_t kHead = 64;
  const Result<File> file = files().read(log_name(log));
  const Result<std::string> bytes = file ? file->read_range(0, kHead) : std::string();
  if (!bytes || bytes->empty()) return false;
  OwnEntries own = entries_of(log);
  scan_log({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()},
           [&](const LogEntry& entry, std::uint64_t) { (void)own.take(entry); });
  if (own.any_of_others()) return true;
  const std::scoped_lock lock(*mutex_);
  own_logs_.insert(log);
  return false;
}

std::vector<std::uint64_t> Spool::logs() const {
  std::vector<std::uint64_t> numbers = numbered_logs();
  std::erase_if(numbers, [this](std::uint64_t n) { return is_copy(n); });
  return numbers;
}

bool Spool::has_log(std::uint64_t n) const { return files().has(log_name(n)) && !is_copy(n); }

std::vector<std::string> Spool::copied_logs() const {
  std::vector<std::string> names;
  for (const std::uint64_t n : numbered_logs()) {
    if (is_copy(n)) names.push_back(log_name(n));
  }
  return names;
}

OwnEntries Spool::entries_of(std::uint64_t log) const { return {log, run_number(header_)}; }

std::string Spool::log_head(std::uint64_t log) const {
  return Journal::head(log, run_number(header_));
}

// By the header alone: a file may have been copied under any name. Pools of the broker have a name
// of their own before the number.
std::string Spool::why_not_ours(const fathom_pool_header& header, std::string_view name) const {
  if (std::memcmp(header.run_id, header_.run_id, sizeof header.run_id) != 0)
    return "of another recording";
  // Libraries before the number was there.
  if (header.number == 0) return "";
  const bool brokered = (header.number & FATHOM_POOL_BROKERED) != 0;
  const std::string number = std::to_string(header.number & ~FATHOM_POOL_BROKERED);
  const std::string own = number + FATHOM_POOL_SUFFIX;
  if (brokered) return name.ends_with("-" + own) ? "" : "a copy of another pool";
  return name == own || !files().has_file(own) ? "" : "a copy of " + own;
}

std::vector<std::uint64_t> Spool::numbered_logs() const {
  std::vector<std::uint64_t> numbers;
  const Result<std::vector<std::string>> names = files().names();
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
std::string Spool::log_path(std::uint64_t n) const { return files().path_of(log_name(n)); }
std::string Spool::definitions_path() const { return files().path_of(kDefinitionsLog); }
std::string Spool::carry_name(std::uint64_t n) { return "carry-" + std::to_string(n); }
void Spool::restore_carried(std::uint64_t n, Decoder& decoder) const {
  if (!files().has(carry_name(n))) return;
  const Result<std::string> carried = files().read_whole(carry_name(n), kMostCarried);
  // Whatever is no sound carry counts as a loss there.
  decoder.restore(carried ? *carried : "unreadable");
}
std::string Spool::lock_path() const { return files().path_of(kLockFile); }

// A source that this version does not know has its layer's name in some schema of the run.
std::string Spool::layer_of(std::size_t source) const {
  const Result<std::vector<std::string>> names = files().names();
  if (!names) return "";
  for (const std::string& name : *names) {
    if (!name.starts_with(FATHOM_SCHEMA_PREFIX)) continue;
    const Result<std::string> text = files().read_whole(name, kMostSchema);
    if (!text || schema_name(fnv1a(*text)) != name) continue;
    const Result<Schema> schema = Schema::parse(*text);
    if (!schema) continue;
    const auto kind = std::ranges::find(schema->kinds(), source, &EventKind::source);
    if (kind != schema->kinds().end()) return kind->layer;
  }
  return "";
}

const Schema* Spool::schema(std::uint64_t hash) {
  const auto known = schemas_.find(hash);
  if (known != schemas_.end()) return known->second.parsed.get();
  KnownSchema& slot = schemas_[hash];
  Result<std::string> text = files().read_whole(schema_name(hash), kMostSchema);
  // The slot stays empty: it is asked for with every chunk, and read once.
  if (!text || fnv1a(*text) != hash) return nullptr;
  Result<Schema> schema = Schema::parse(*text);
  if (schema) slot.parsed = std::make_unique<Schema>(std::move(schema).value());
  slot.text = std::move(text).value();
  return slot.parsed.get();
}

std::vector<std::string> Spool::missing_schemas() const {
  std::vector<std::string> names;
  for (const auto& [hash, schema] : schemas_) {
    if (schema.parsed == nullptr) names.push_back(schema_name(hash));
  }
  return names;
}

Status Spool::remake() {
  const std::string path = directory();
  if (Status made = make_inner_dir(path); !made && !is_directory(path)) return made;
  // Another directory of the same name is the run's from now on: processes that attach go there.
  FATHOM_ASSIGN(Directory now, Directory::open_beneath(path));
  if (!now.same_as(files())) {
    const std::scoped_lock lock(*mutex_);
    files_ = std::move(now);
  }
  for (const auto& [hash, schema] : schemas_) {
    if (schema.text.empty() || files().has_file(schema_name(hash))) continue;
    FATHOM_TRY(files().write_atomic(schema_name(hash), schema.text));
  }
  return {};
}

std::string call_name(Spool& spool, const CallInFlight& call) {
  const Schema* schema = spool.schema(call.schema);
  const EventKind* kind = schema != nullptr ? schema->find(call.kind) : nullptr;
  return kind != nullptr ? kind->name : "kind " + std::to_string(call.kind);
}

}  // namespace fathom::trace
