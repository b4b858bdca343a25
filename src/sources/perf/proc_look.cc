// SPDX-License-Identifier: MIT
// A thread that sleeps costs one read: while its counters stay the same, it sleeps where it did.
#include "sources/perf/proc_look.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "sources/system_call_names.h"

namespace fathom::sources {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

// What the monotonic clock says less than the one since boot: the time that the machine slept.
std::int64_t boot_to_monotonic() {
  timespec since_boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  return now_monotonic_ns() - nanoseconds_of(since_boot);
}

// Also of a process that has ended and is not reaped.
std::int64_t cpu_of_process(std::int32_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return nanoseconds_of(time);
}

std::string text_of(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? std::move(text).value() : std::string();
}

std::int64_t in_ns(std::uint64_t ticks, std::int64_t tick_ns) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / kSecond;
  return static_cast<std::int64_t>(std::min(ticks, kMost)) * tick_ns;
}

// Where the kernel counts nothing finer.
SchedStat whole_ticks(const ProcessStat& stat, std::int64_t tick_ns) {
  const std::uint64_t ticks = stat.user_ticks + stat.system_ticks;
  return {.ran = in_ns(ticks, tick_ns), .ready = 0, .arrivals = ticks};
}

}  // namespace

ProcReader::ProcReader(std::string proc)
    : proc_(std::move(proc)),
      tick_ns_(kSecond / std::max(1L, ::sysconf(_SC_CLK_TCK))),
      boot_to_monotonic_(boot_to_monotonic()) {}

std::string ProcReader::file_of(std::int32_t pid) const {
  std::array<char, 4096> path{};
  const ssize_t length =
      ::readlink(join_path(proc_, std::to_string(pid) + "/exe").c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

std::string ProcReader::command_of(std::int32_t pid) const {
  std::string text = text_of(join_path(proc_, std::to_string(pid) + "/cmdline"));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

void ProcReader::forget(std::int32_t pid) {
  std::erase_if(known_, [pid](const auto& one) { return one.first.pid == pid; });
}

// The process first: what its threads used until they are read is never less.
std::optional<ProcessLook> ProcReader::look(const ProcessStat& stat) {
  ProcessLook process{.stat = stat, .ran = cpu_of_process(stat.pid), .threads = {}};
  const Result<std::vector<std::string>> names =
      list_dir(join_path(proc_, std::to_string(stat.pid) + "/task"));
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    const Result<std::int64_t> tid = parse_int(name);
    if (!tid || *tid <= 0 || *tid > std::numeric_limits<std::int32_t>::max()) continue;
    std::optional<ThreadLook> thread = look(ThreadId{stat.pid, static_cast<std::int32_t>(*tid)});
    if (thread) process.threads.push_back(std::move(*thread));
  }
  return process;
}

std::optional<ThreadLook> ProcReader::look(ThreadId thread) {
  const std::string folder = folder_of(thread);
  std::string schedstat = text_of(join_path(folder, "schedstat"));
  const std::optional<SchedStat> times = parse_schedstat(schedstat);
  const bool counts = times && times->arrivals > 0;
  Known& known = known_[thread];
  if (counts && !known.look.awake && !known.look.ended && schedstat == known.schedstat)
    return known.look;
  const std::optional<ProcessStat> stat = parse_process_stat(text_of(join_path(folder, "stat")));
  if (!stat) {
    known_.erase(thread);
    return std::nullopt;
  }
  ThreadLook look;
  look.tid = thread.tid;
  look.name = stat->name;
  look.times = counts ? *times : whole_ticks(*stat, tick_ns_);
  look.awake = stat->state == 'R';
  look.ended = stat->state == 'Z' || stat->state == 'X';
  look.cpu = stat->cpu;
  look.start = in_ns(stat->start_ticks, tick_ns_) + boot_to_monotonic_;
  if (!look.awake && !look.ended) see_where_it_sleeps(thread, look);
  known = {std::move(schedstat), look};
  return look;
}

std::string ProcReader::folder_of(ThreadId thread) const {
  return join_path(proc_, std::to_string(thread.pid) + "/task/" + std::to_string(thread.tid));
}

// Who joins a thread waits for the kernel to take that thread's number out of memory. Nobody else
// waits, across processes, for a word with the number of a thread beside it.
bool ProcReader::waits_for_thread(ThreadId thread, const SleepingIn& sleeping) const {
  if (sleeping.call != SYS_futex) return false;
  const std::uint64_t operation = sleeping.arguments[1];
  const std::uint64_t command = operation & static_cast<std::uint64_t>(FUTEX_CMD_MASK);
  const std::uint64_t other = sleeping.arguments[2];
  const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  if (!waits || (operation & FUTEX_PRIVATE_FLAG) != 0 || other == 0 || other > INT32_MAX)
    return false;
  const ThreadId joined{thread.pid, static_cast<std::int32_t>(other)};
  return joined.tid != thread.tid && path_exists(folder_of(joined));
}

// Numbers of programs of 32 bits mean other calls: their stacks lie below 4 GiB.
void ProcReader::see_where_it_sleeps(ThreadId thread, ThreadLook& look) const {
  const std::string folder = folder_of(thread);
  const auto sleeping = parse_syscall(text_of(join_path(folder, "syscall")));
  const bool narrow = sleeping && sleeping->stack_pointer <= UINT32_MAX;
  if (sleeping && !narrow) {
    look.call = system_call_name(sleeping->call);
    if (waits_for_thread(thread, *sleeping)) look.user_place = "pthread_join";
  }
  const std::string place = text_of(join_path(folder, "wchan"));
  if (place != "0") look.kernel_place = trim(place);
}

}  // namespace fathom::sources
