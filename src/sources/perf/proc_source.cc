// SPDX-License-Identifier: MIT
// A thread beside the program looks at all threads of its processes. It takes a twentieth of a core
// at most: where there are thousands, it looks less often. Sums stay exact, causes of waits become
// coarser.
#include "sources/perf/proc_source.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "sources/list.h"
#include "sources/perf/proc_look.h"
#include "sources/perf/proc_rows.h"
#include "sources/process_tree.h"

namespace fathom::sources {
namespace {

constexpr std::int64_t kRestFactor = 20;
constexpr char kWithoutFunctions[] =
    ": CPU time and waits of each thread are read from /proc, without functions";

bool lives_are_told(const SourceContext& context) {
  return std::ranges::any_of(context.layers, [](const std::string& layer) {
    const SourceDef* source = source_of(layer);
    return source != nullptr && source->in_process;
  });
}

// What a child of ours used that has ended and is not reaped, with all that it waited for. (libc's
// function of this name does not ask for it.)
std::optional<std::int64_t> used_in_all(pid_t child) {
  siginfo_t how{};
  rusage used{};
  if (::syscall(SYS_waitid, P_PID, child, &how, WEXITED | WNOWAIT | WNOHANG, &used) != 0 ||
      how.si_pid != child)
    return std::nullopt;
  const auto ns = [](const timeval& time) {
    return (std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec) * 1000;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

class ProcSource final : public Source {
 public:
  explicit ProcSource(Error refused) : refused_(std::move(refused)) {}

  Status adopt(pid_t process) override {
    tree_.add(process);
    adopted_at_ = now_monotonic_ns();
    const Result<std::string> text = read_file("/proc/" + std::to_string(process) + "/stat");
    const auto stat = text ? parse_process_stat(*text) : std::nullopt;
    if (stat) adopted_ = reader_.look(*stat);
    return {};
  }

  Status start(const SourceContext& context) override {
    if (!adopted_) return Error{Code::kUnsupported, "/proc does not show the program", ""};
    rows_.emplace(ProcRowsOptions{.start_monotonic_ns = context.start_monotonic_ns,
                                  .no_command = context.no_command,
                                  .lives_are_told = lives_are_told(context)});
    rows_->adopt(*adopted_, adopted_at_);
    period_ = static_cast<std::int64_t>(1e9 / context.sample_hz);
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    return {};
  }

  [[nodiscard]] std::map<std::string, std::string> lacks() const override {
    const Availability state = proc_availability(refused_);
    return {{std::string(trace::kSampledLayer),
             state.reason + (state.fix.empty() ? "" : "; for functions: " + state.fix)}};
  }

  void stop() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  void drain(trace::Strings& strings, trace::HostRows& rows) override {
    const std::scoped_lock lock(mutex_);
    if (rows_) rows_->drain(strings, rows);
  }

 private:
  // Until stop, and once more then: what the program used in all.
  void work(const std::stop_token& stop) {
    for (bool last = false; !last;) {
      last = stop.stop_requested();
      const std::int64_t begin = now_monotonic_ns();
      const std::int64_t used_before = now_thread_cpu_ns();
      look(begin);
      const std::int64_t used = now_thread_cpu_ns() - used_before;
      const std::int64_t over = begin + period_ - now_monotonic_ns();
      if (!last) rest(stop, std::max(over, used * kRestFactor));
    }
    const std::scoped_lock lock(mutex_);
    rows_->stop(now_monotonic_ns(), used_in_all(adopted_->stat.pid));
  }

  void look(std::int64_t now) {
    std::vector<ProcessLook> processes;
    std::set<pid_t> alive;
    for (const ProcessStat& stat : tree_.refresh()) {
      std::optional<ProcessLook> process = reader_.look(stat);
      if (!process) continue;
      alive.insert(stat.pid);
      processes.push_back(std::move(*process));
    }
    for (const pid_t pid : alive_) {
      if (!alive.contains(pid)) reader_.forget(pid);
    }
    alive_ = std::move(alive);
    const std::scoped_lock lock(mutex_);
    rows_->look(processes, now, reader_);
  }

  void rest(const std::stop_token& stop, std::int64_t ns) {
    std::unique_lock lock(rest_mutex_);
    rested_.wait_for(lock, stop, std::chrono::nanoseconds(ns), [] { return false; });
  }

  Error refused_;
  std::int64_t period_ = 0;
  std::int64_t adopted_at_ = 0;
  std::optional<ProcessLook> adopted_;
  ProcReader reader_;      // of the thread that runs, as are
  ProcessTree tree_;       // the processes of the run
  std::set<pid_t> alive_;  // and those of the last look
  std::mutex mutex_;
  std::optional<ProcRows> rows_;  // guarded by mutex_
  std::mutex rest_mutex_;
  std::condition_variable_any rested_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace

Availability proc_availability(const Error& refused) {
  if (!path_exists("/proc/self/stat"))
    return {false, refused.message + ", and /proc is not mounted", refused.hint, true};
  return {.available = true, .reason = refused.message + kWithoutFunctions, .fix = refused.hint};
}

std::unique_ptr<Source> make_proc_source(const Error& refused) {
  return std::make_unique<ProcSource>(refused);
}

}  // namespace fathom::sources
