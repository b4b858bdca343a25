// SPDX-License-Identifier: MIT
// A thread beside the program looks at all threads of its processes. It takes a twentieth of a core
// at most: where there are thousands, it looks less often. Sums stay exact, causes of waits become
// coarser.
#include "sources/perf/proc_source.h"

#include <sys/resource.h>
#include <sys/stat.h>
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
#include "sources/perf/chosen_processes.h"
#include "sources/perf/followed_tree.h"
#include "sources/perf/proc_look.h"
#include "sources/perf/proc_rows.h"

namespace fathom::sources {
namespace {

// It rests so many times as long as it looked.
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

std::optional<ProcessStat> stat_of(pid_t process) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(process) + "/stat");
  return text ? parse_process_stat(*text) : std::nullopt;
}

// /proc tells the times of everybody's processes; those of others are none of this user's business.
bool is_ours(pid_t process) {
  struct stat facts {};
  return ::geteuid() == 0 || (::stat(("/proc/" + std::to_string(process)).c_str(), &facts) == 0 &&
                              facts.st_uid == ::geteuid());
}

// look_mutex_ is held for a look at /proc, which may take long; mutex_ for the rows alone, so that
// drain() need not wait for a look.
class ProcSource final : public Source {
 public:
  explicit ProcSource(Error refused) : refused_(std::move(refused)) {}

  Status adopt(pid_t process) override {
    tree_.adopt(process);
    adopted_at_ = now_monotonic_ns();
    if (const auto stat = stat_of(process)) adopted_ = reader_.look(*stat);
    return {};
  }

  Status start(const SourceContext& context) override {
    if (!adopted_ && !context.joins)
      return Error{Code::kUnsupported, "/proc does not show the program", ""};
    rows_.emplace(ProcRowsOptions{.start_monotonic_ns = context.start_monotonic_ns,
                                  .no_command = context.no_command,
                                  .lives_are_told = lives_are_told(context)});
    if (adopted_) rows_->adopt(*adopted_, adopted_at_);
    period_ = static_cast<std::int64_t>(1e9 / context.sample_hz);
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    return {};
  }

  [[nodiscard]] std::map<std::string, std::string> lacks() const override {
    const Availability state = proc_availability(refused_);
    return {{std::string(trace::kSampledLayer),
             state.reason + (state.fix.empty() ? "" : "; for functions: " + state.fix)}};
  }

  Status join(const Choice& choice) override {
    const std::scoped_lock looking(look_mutex_);
    if (!rows_ || choice.by == Choice::By::kNobody) return {};
    if (choice.by == Choice::By::kProcess) return join_process(choice.process);
    if (!chosen_) chosen_.emplace(choice);
    join_chosen();
    return {};
  }

  Status leave(pid_t process) override {
    const std::scoped_lock looking(look_mutex_);
    if (!rows_) return {};
    look(now_monotonic_ns());
    tree_.leave(process);
    const std::scoped_lock lock(mutex_);
    rows_->leave(process);
    return {};
  }

  std::vector<Followed> followed() override {
    const std::scoped_lock lock(mutex_);
    return rows_ ? rows_->followed() : std::vector<Followed>();
  }

  std::int64_t turn(trace::Strings& strings, trace::HostRows& last) override {
    const std::scoped_lock looking(look_mutex_);
    if (!rows_) return 0;
    turned_ns_ = now_monotonic_ns();
    look(turned_ns_);
    const std::scoped_lock lock(mutex_);
    rows_->cut(strings, last);
    between_recordings_ = true;
    return 0;
  }

  void turned(std::int64_t start_monotonic_ns) override {
    const std::scoped_lock lock(look_mutex_, mutex_);
    if (rows_) rows_->begin_anew(start_monotonic_ns, turned_ns_);
    between_recordings_ = false;
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
      {
        const std::scoped_lock looking(look_mutex_);
        if (chosen_) join_chosen();
        look(begin);
      }
      const std::int64_t used = now_thread_cpu_ns() - used_before;
      const std::int64_t over = begin + period_ - now_monotonic_ns();
      if (!last) rest(stop, std::max(over, used * kRestFactor));
    }
    const std::scoped_lock lock(mutex_);
    rows_->stop(now_monotonic_ns(),
                adopted_ ? used_in_all(adopted_->stat.pid) : std::optional<std::int64_t>());
  }

  // With look_mutex_, as all below but the last.
  void look(std::int64_t now) {
    if (between_recordings_) return;
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
    looked_ns_ = now;
    const std::scoped_lock lock(mutex_);
    rows_->look(processes, now, reader_);
  }

  Status join_process(pid_t process) {
    if (tree_.has(process)) return {};
    const std::optional<ProcessStat> stat = stat_of(process);
    const std::optional<ProcessLook> found = stat ? reader_.look(*stat) : std::nullopt;
    if (!found) return Error{Code::kNotFound, "there is no process " + std::to_string(process), ""};
    if (!is_ours(process))
      return Error{Code::kDenied, "process " + std::to_string(process) + " belongs to another user",
                   "use sudo"};
    tree_.join(process);
    const std::scoped_lock lock(mutex_);
    rows_->join(*found, now_monotonic_ns(), reader_);
    return {};
  }

  // Those that have come since. One that began since then is told from its beginning on.
  void join_chosen() {
    chosen_->refresh();
    for (const pid_t process : chosen_->running()) {
      const bool is_new = looked_ns_ != 0 && is_ours(process) && began_after(process, looked_ns_);
      if (is_new && !tree_.has(process)) {
        tree_.adopt(process);
      } else {
        (void)join_process(process).has_value();
      }
    }
  }

  // By the clock of its threads, which counts in ticks.
  [[nodiscard]] bool began_after(pid_t process, std::int64_t monotonic_ns) {
    constexpr std::int64_t kTick = 10'000'000;
    const std::optional<ProcessStat> stat = stat_of(process);
    const std::optional<ProcessLook> found = stat ? reader_.look(*stat) : std::nullopt;
    return found && !found->threads.empty() && found->threads.front().start + kTick > monotonic_ns;
  }

  void rest(const std::stop_token& stop, std::int64_t ns) {
    std::unique_lock lock(rest_mutex_);
    rested_.wait_for(lock, stop, std::chrono::nanoseconds(ns), [] { return false; });
  }

  Error refused_;
  std::int64_t period_ = 0;
  std::int64_t adopted_at_ = 0;
  std::optional<ProcessLook> adopted_;
  std::mutex look_mutex_;                  // taken before mutex_
  ProcReader reader_;                      // guarded by look_mutex_, as are
  FollowedTree tree_;                      // the processes of the recording,
  std::optional<ChosenProcesses> chosen_;  // those of the machine that belong to it,
  std::set<pid_t> alive_;                  // those of the last look,
  std::int64_t looked_ns_ = 0;             // which was then,
  bool between_recordings_ = false;        // and whether there is a recording
  std::int64_t turned_ns_ = 0;             // that began then
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
