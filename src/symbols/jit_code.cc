// SPDX-License-Identifier: MIT
// Files that JITs write while their program runs: perf-PID.map in /tmp, and jitdump files that the
// program maps. Anybody may write to /tmp, and numbers of processes are used again: a file counts
// only if it is the process's own and was written since the process began. The process may have
// another root and another pid namespace: paths are resolved inside its root, never in ours, and
// the number is the one that it has there.
#include "symbols/jit_code.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "symbols/plain_file.h"

namespace fathom::symbols {
namespace {

constexpr std::uint64_t kMostBytes = 256ULL << 20;
// Times of files are those of the last tick of the kernel's clock.
constexpr std::int64_t kFileTimeSlack = 20'000'000;

// A word of a line of /proc/PID/status.
std::optional<std::int64_t> status_word(const std::string& status, std::string_view key,
                                        std::size_t index) {
  const std::size_t at = status.find(key);
  if (at == std::string::npos) return std::nullopt;
  std::string_view line = std::string_view(status).substr(at + key.size());
  line = trim(line.substr(0, std::min(line.find('\n'), line.size())));
  const std::vector<std::string_view> words = split(line, '\t');
  const Result<std::int64_t> number = parse_int(words[std::min(index, words.size() - 1)]);
  return number ? std::optional(*number) : std::nullopt;
}

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// When a process began, by the clock that goes on while the machine sleeps.
std::optional<std::int64_t> began_ns(const std::string& process) {
  const Result<std::string> stat = read_file(process + "/stat");
  const std::size_t name_end = stat ? stat->rfind(") ") : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string_view> words =
      split(std::string_view(*stat).substr(name_end + 2), ' ');
  constexpr std::size_t kStart = 19;  // the third word of the line is our first
  const Result<std::int64_t> ticks = parse_int(words.size() > kStart ? words[kStart] : "");
  if (!ticks) return std::nullopt;
  return *ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
}

Fd open_folder(int at, const char* path) {
  return Fd(::openat(at, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// A folder inside of a root, by way of no link.
Fd open_inside(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  return Fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

// Bytes behind those that were read; none where there are no more, or too many.
std::string read_on(const File& file, std::uint64_t from) {
  const Result<std::uint64_t> size = file.size();
  if (!size || *size <= from || *size > kMostBytes) return {};
  Result<std::string> bytes = file.read_range(from, static_cast<std::size_t>(*size - from));
  return bytes ? std::move(*bytes) : std::string();
}

}  // namespace

JitPlace JitPlace::of_process(pid_t pid, std::int64_t started_ns) {
  const std::string process = "/proc/" + std::to_string(pid);
  const std::int64_t now = clock_ns(CLOCK_REALTIME);
  JitPlace place;
  place.inner_pid = pid;
  place.owner = ::geteuid();
  place.since_ns = now - (now_monotonic_ns() - started_ns);
  // The root is a link of the kernel's, so it is followed.
  place.root = Fd(::open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Result<std::string> status = read_file(process + "/status");
  if (!place.root.valid() || !status) {
    place.root = Fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return place;
  }
  constexpr std::size_t kLast = 64;
  constexpr std::size_t kEffective = 1;
  place.inner_pid = static_cast<pid_t>(status_word(*status, "\nNSpid:", kLast).value_or(pid));
  place.owner =
      static_cast<uid_t>(status_word(*status, "\nUid:", kEffective).value_or(place.owner));
  if (const auto began = began_ns(process))
    place.since_ns = now - (clock_ns(CLOCK_BOOTTIME) - *began);
  return place;
}

void JitCode::open_map() {
  const Fd folder = open_folder(place_.root.get(), "tmp");
  if (!folder.valid()) return;
  const std::string name = "perf-" + std::to_string(place_.inner_pid) + ".map";
  Result<Fd> fd = open_plain_file(folder.get(), name, place_.owner);
  struct stat facts {};
  if (!fd || ::fstat(fd->get(), &facts) != 0) return;
  const std::int64_t written = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (written + kFileTimeSlack >= place_.since_ns)
    map_file_.emplace(File::adopt(std::move(*fd), name));
}

void JitCode::read_map(std::uint64_t now) {
  if (!map_file_) open_map();
  if (!map_file_) return;
  const Result<std::uint64_t> size = map_file_->size();
  if (size && *size < map_read_) {  // begun anew: what was said does not hold
    map_ = PerfMap();
    map_read_ = 0;
  }
  const std::string text = read_on(*map_file_, map_read_);
  map_read_ += text.size();
  if (text.empty()) return;
  map_.add(text, now);
  version_++;
}

void JitCode::add_dump(const std::string& path, std::uint64_t inode) {
  const Fd folder = open_inside(place_.root.get(), std::string(dir_name(path)));
  if (!folder.valid()) return;
  Result<Fd> fd = open_plain_file(folder.get(), std::string(base_name(path)), place_.owner);
  struct stat facts {};
  // The very file that the process mapped.
  if (!fd || ::fstat(fd->get(), &facts) != 0 || facts.st_ino != inode) return;
  dump_file_.emplace(File::adopt(std::move(*fd), path));
  dump_read_ = 0;
}

// It is read as a whole: not for each function that is added.
void JitCode::read_dump(std::uint64_t now) {
  constexpr std::uint64_t kRest = 5'000'000'000;
  const Result<std::uint64_t> size = dump_file_ ? dump_file_->size() : Result<std::uint64_t>(0);
  if (!size || *size == dump_read_) return;
  if (!ended_ && *size / 4 * 3 < dump_read_ && now < dump_read_at_ + kRest) return;
  dump_read_ = *size;
  dump_read_at_ = now;
  Result<Jitdump> read = Jitdump::parse(read_on(*dump_file_, 0));
  if (!read) return;
  dump_.emplace(std::move(*read));
  version_++;
}

void JitCode::refresh(std::uint64_t now) {
  if (ended_) return;
  read_map(now);
  read_dump(now);
}

void JitCode::end(std::uint64_t now) {
  if (ended_) return;
  ended_ = true;
  read_map(now);
  read_dump(now);
  map_file_.reset();
  dump_file_.reset();
  place_.root = Fd();
}

JitCode::Answer JitCode::find(std::uint64_t address, std::uint64_t time) const {
  using Kind = Answer::Kind;
  if (dump_) {
    // The JIT may still tell of it.
    if (time > dump_->last_time() && !ended_) return {.kind = Kind::kLater};
    const Jitdump::Found found = dump_->find(address, time);
    if (!found.function.empty())
      return {Kind::kName, std::string(found.function), std::string(found.file), found.line};
  }
  const std::string_view name = map_.find(address, time);
  if (!name.empty()) return {.kind = Kind::kName, .function = std::string(name)};
  return {.kind = ended_ ? Kind::kNone : Kind::kLater};
}

}  // namespace fathom::symbols
