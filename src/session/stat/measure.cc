// SPDX-License-Identifier: MIT
// The counters are opened for the child that waits to become the program, and begin with its exec:
// nothing of ours is in them. Times, memory and faults are what the kernel keeps for whoever waits.
#include "session/stat/measure.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/os_error.h"
#include "base/proc_text.h"
#include "session/environment.h"
#include "session/run/program.h"

namespace fathom::session {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr int kTickMs = 100;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Also of a process that has ended and is not reaped.
std::optional<IoBytes> io_of(pid_t process) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(process) + "/io");
  if (!text || text->empty()) return std::nullopt;
  const auto bytes = [&](std::string_view key) { return number_of(*text, key).value_or(0); };
  return IoBytes{.read = bytes("rchar"),
                 .written = bytes("wchar"),
                 .disk_read = bytes("read_bytes"),
                 .disk_written = bytes("write_bytes")};
}

Status pin(pid_t process, const std::vector<int>& cpus) {
  if (cpus.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  if (::sched_setaffinity(process, sizeof set, &set) == 0) return {};
  return os_error(errno, "run the program on these CPUs", "name CPUs that are there");
}

void set_usage(const rusage& usage, Measured& measured) {
  measured.user = seconds_of(usage.ru_utime);
  measured.system = seconds_of(usage.ru_stime);
  measured.max_rss = 1024 * static_cast<std::uint64_t>(usage.ru_maxrss);
  measured.tally = Tally{.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt),
                         .major_faults = static_cast<std::uint64_t>(usage.ru_majflt),
                         .voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw),
                         .involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

// What /proc tells of a process that is not our child.
struct Look {
  double user = 0;
  double system = 0;
  std::uint64_t max_rss = 0;
};

std::optional<Look> look_at(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  const Result<std::string> text = read_file(folder + "/stat");
  const std::optional<ProcessStat> stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return std::nullopt;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  Look look{.user = static_cast<double>(stat->user_ticks) / ticks,
            .system = static_cast<double>(stat->system_ticks) / ticks};
  if (const Result<std::string> status = read_file(folder + "/status"))
    look.max_rss = 1024 * number_of(*status, "VmHWM").value_or(0);
  return look;
}

Error not_there(pid_t process) {
  return {Code::kNotFound, "there is no process " + std::to_string(process), ""};
}

// Until the process ends or somebody asks us to; keeps what was seen of it last.
void watch(pid_t process, const Fd& handle, SignalQueue& signals, Look& last) {
  for (;;) {
    pollfd waiting[2] = {{handle.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    ::poll(waiting, 2, kTickMs);
    const std::optional<Look> look = look_at(process);
    if (look) {
      last.user = look->user;
      last.system = look->system;
      if (look->max_rss > 0) last.max_rss = look->max_rss;
    }
    if ((waiting[0].revents & POLLIN) != 0 || signals.told_to_end()) return;
  }
}

}  // namespace

Result<Measured> measure(const Measurement& wanted, SignalQueue& signals) {
  FATHOM_ASSIGN(const std::string path, find_program(wanted.words.at(0)));
  const ProgramSpec spec{.path = path, .words = wanted.words, .environment = own_environment()};
  std::optional<perf::Counting> counting;
  std::int64_t begin_ns = 0;
  const auto before = [&](pid_t child) -> Status {
    FATHOM_TRY(pin(child, wanted.cpus));
    FATHOM_ASSIGN(counting,
                  perf::Counting::open(wanted.events, child, perf::Counting::Start::kExec));
    if (wanted.needs_events && counting->opened() == 0) return counting->why_none();
    begin_ns = now_monotonic_ns();
    return {};
  };
  FATHOM_ASSIGN(const pid_t program, start_program(spec, signals, before));
  const std::int64_t end_ns = supervise(program, signals, [] {});
  Measured measured;
  // Before it is reaped: its file in /proc goes with it.
  measured.io = io_of(program);
  const Ending ending = reap(program);
  measured.exit = ending.status;
  measured.signal = ending.signal;
  measured.wall = kNanosecond * static_cast<double>(end_ns - begin_ns);
  set_usage(ending.usage, measured);
  measured.events = counting->read();
  return measured;
}

Result<Measured> measure_running(pid_t process, const std::vector<perf::EventGroup>& events,
                                 SignalQueue& signals) {
  const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  const std::optional<Look> first = look_at(process);
  if (!handle.valid() || !first) return not_there(process);
  FATHOM_ASSIGN(perf::Counting counting,
                perf::Counting::open(events, process, perf::Counting::Start::kNow));
  if (counting.opened() == 0) return counting.why_none();
  const std::int64_t begin_ns = now_monotonic_ns();
  counting.enable();
  Look last = *first;
  watch(process, handle, signals, last);
  Measured measured;
  measured.wall = kNanosecond * static_cast<double>(now_monotonic_ns() - begin_ns);
  measured.events = counting.read();
  measured.user = last.user - first->user;
  measured.system = last.system - first->system;
  measured.max_rss = last.max_rss;
  return measured;
}

}  // namespace fathom::session
