// SPDX-License-Identifier: MIT
// The source `cpu`: a thread beside the program that reads the kernel's rings ten times a second,
// whenever one is half full, and at each sample as long as there is Python to be read.
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/file_limit.h"
#include "base/files.h"
#include "base/proc_text.h"
#include "perf/event.h"
#include "perf/open.h"
#include "sources/perf/chosen_processes.h"
#include "sources/perf/cpu_rows.h"
#include "sources/perf/event_counts.h"
#include "sources/perf/follow_process.h"
#include "sources/perf/found_process.h"
#include "sources/perf/joined_counts.h"
#include "sources/perf/proc_source.h"
#include "sources/perf/sampled_events.h"
#include "sources/source.h"
#include "symbols/kernel_symbols.h"
#include "trace/rows/layers.h"

namespace fathom::sources {
namespace {

constexpr std::string_view kLayers[] = {trace::kSampledLayer};
constexpr std::chrono::milliseconds kRest{100};
constexpr char kUserAlone[] = "without the kernel's functions, and without the stacks of waits";

Result<SamplingOptions> options_of(const SourceContext& context) {
  const std::string& event = context.sample_event;
  FATHOM_ASSIGN(perf::Event ticks, perf::parse_event(event.empty() ? "cpu-clock" : event));
  return SamplingOptions{.event = std::move(ticks), .hz = context.sample_hz};
}

// How long a thread was ready in all, as the kernel counts; nothing where it has ended, or does not
// count.
std::optional<std::int64_t> ready_ns(ThreadId thread) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(thread.pid) + "/task/" +
                                             std::to_string(thread.tid) + "/schedstat");
  const std::optional<SchedStat> stat = text ? parse_schedstat(*text) : std::nullopt;
  return stat ? std::optional(stat->ready) : std::nullopt;
}

// As the kernel is when it is first asked for, since many short programs never are in it. None
// where it hides its addresses.
KernelNames kernel_names() {
  auto symbols = std::make_shared<std::optional<Result<symbols::KernelSymbols>>>();
  return [symbols](std::uint64_t address) {
    if (!*symbols) symbols->emplace(symbols::KernelSymbols::read());
    return **symbols ? std::string((**symbols)->find(address).function) : std::string();
  };
}

// What another event than the clock counts, nobody tells but the kernel's events.
Error cannot_join(const Error& refused) {
  return {refused.code, "layer cpu cannot join processes that run: " + refused.message,
          refused.hint};
}

// Samples by the kernel's events; by /proc (instead_) where those are refused. Its thread reads the
// rings from start() to pause(); all other calls come from the recorder's threads, and mutex_ is
// between them.
class CpuSource final : public Source {
 public:
  Status prepare(const SourceContext& context) override {
    FATHOM_ASSIGN(options_, options_of(context));
    FATHOM_ASSIGN(counted_, perf::parse_each(context.count));
    kernel_ = kernel_names();
    if (!context.joins) return {};
    joined_counts_.prepare(counted_, [this] { return followed(); });
    Result<SampledEvents> events = SampledEvents::open(options_);
    if (!events && !options_.event.is_clock()) return cannot_join(events.error());
    if (!events) {
      instead_ = make_proc_source(events.error());
    } else {
      events_.emplace(std::move(events).value());
    }
    return {};
  }

  // The program runs whatever comes of this: start() tells.
  Status adopt(pid_t process) override {
    counts_.adopt(process, counted_);
    const Status followed = [&]() -> Status {
      FATHOM_ASSIGN(events_, SampledEvents::open(options_));
      return events_->follow(process, process, SampledEvents::From::kExec);
    }();
    if (followed) return {};
    refused_ = followed.error();
    // (What another event than the clock counts, nobody else can tell.)
    if (!options_.event.is_clock()) return {};
    instead_ = make_proc_source(*refused_);
    return instead_->adopt(process);
  }

  // After pause(), in a child: the same goes on.
  Status start(const SourceContext& context) override {
    if (!rows_) counts_.start(context.start_monotonic_ns, context.count_interval_ns);
    if (!rows_) joined_counts_.start(context.start_monotonic_ns, context.count_interval_ns);
    if (instead_) return instead_->start(context);
    if (refused_) return *refused_;
    if (rows_) {
      FATHOM_TRY(events_->map_again());
      paused_ = false;
      eventfd_t old = 0;
      (void)::eventfd_read(wake_.get(), &old);
    } else {
      rows_.emplace(CpuRowsOptions{.start_monotonic_ns = context.start_monotonic_ns,
                                   .event = options_.event.name,
                                   .is_clock = options_.event.is_clock(),
                                   .rung = events_->sees_kernel() ? "perf" : "perf-user",
                                   .sees_leaving = events_->sees_kernel(),
                                   .no_command = context.no_command,
                                   .kernel = kernel_,
                                   .files = context.files});
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { work_or_give_up(stop); });
    return {};
  }

  [[nodiscard]] std::map<std::string, std::string> lacks() const override {
    std::map<std::string, std::string> all = instead_ ? instead_->lacks() : own_lacks();
    for (const std::string& uncounted : {counts_.lack(), joined_counts_.lack()}) {
      if (uncounted.empty()) continue;
      std::string& lack = all[std::string(trace::kSampledLayer)];
      lack += (lack.empty() ? "" : "; ") + uncounted;
    }
    return all;
  }

  Status join(const Choice& choice) override {
    if (instead_) return instead_->join(choice);
    const std::scoped_lock lock(mutex_);
    if (!rows_ || choice.by == Choice::By::kNobody) return {};
    // An event is a descriptor, for each thread and CPU.
    raise_file_limit();
    return choice.by == Choice::By::kProcess ? join_process(choice.process) : join_chosen(choice);
  }

  Status leave(pid_t process) override {
    if (instead_) return instead_->leave(process);
    const std::scoped_lock lock(mutex_);
    if (!rows_) return {};
    read_until_now();
    rows_->leave(process, now_monotonic_ns());
    if (!rows_->has_descendants(process)) events_->leave(process);
    return {};
  }

  std::vector<Followed> followed() override {
    if (instead_) return instead_->followed();
    const std::scoped_lock lock(mutex_);
    if (!rows_) return {};
    read_until_now();
    return rows_->followed();
  }

  std::int64_t turn(trace::Strings& strings, trace::HostRows& last) override {
    if (instead_) return instead_->turn(strings, last);
    const std::scoped_lock lock(mutex_);
    if (!rows_) return 0;
    turned_ns_ = now_monotonic_ns();
    read(static_cast<std::uint64_t>(turned_ns_));
    rows_->cut(turned_ns_, strings, last);
    between_recordings_ = true;
    return 0;
  }

  void turned(std::int64_t start_monotonic_ns) override {
    if (instead_) return instead_->turned(start_monotonic_ns);
    const std::scoped_lock lock(mutex_);
    if (!rows_) return;
    rows_->begin_anew(start_monotonic_ns, turned_ns_);
    between_recordings_ = false;
    for (const ThreadId& thread : rows_->lost_asleep())
      rows_->asleep(thread.pid, find_thread(thread.pid, thread.tid));
  }

  bool outlived() override {
    const std::scoped_lock lock(mutex_);
    if (!rows_ || gave_up_) return false;
    if (!paused_) forget_gone();
    return rows_->anybody_lives();
  }

  // Until start() the rings are as they are: they may be another process's by then.
  void pause() override {
    counts_.stop();
    joined_counts_.stop();
    if (instead_) return instead_->stop();
    end_thread();
    const std::scoped_lock lock(mutex_);
    paused_ = true;
  }

  void stop() override {
    counts_.stop();
    joined_counts_.stop();
    if (instead_) return instead_->stop();
    end_thread();
    const std::scoped_lock lock(mutex_);
    if (!rows_ || paused_) return;
    const std::int64_t now = now_monotonic_ns();
    // All there is: nothing comes behind it.
    read(~std::uint64_t{0});
    rows_->stop(now);
  }

  void drain(trace::Strings& strings, trace::HostRows& rows) override {
    counts_.drain(strings, rows);
    joined_counts_.drain(strings, rows);
    if (instead_) return instead_->drain(strings, rows);
    const std::scoped_lock lock(mutex_);
    if (!rows_) return;
    if (std::exchange(has_to_tell_, false)) rows_->gave_up();
    rows_->drain(strings, rows);
  }

 private:
  [[nodiscard]] std::map<std::string, std::string> own_lacks() const {
    if (!events_ || events_->sees_kernel()) return {};
    return {{std::string(trace::kSampledLayer), kUserAlone}};
  }

  void end_thread() {
    thread_.request_stop();
    (void)::eventfd_write(wake_.get(), 1);
    if (thread_.joinable()) thread_.join();
  }

  // The recording goes on without samples where there is no memory for more. (Nor is there for the
  // loss: drain() tells of it.)
  void work_or_give_up(const std::stop_token& stop) {
    try {
      work(stop);
    } catch (const std::exception&) {
      const std::scoped_lock lock(mutex_);
      records_ = {};
      gave_up_ = has_to_tell_ = true;
    }
  }

  void work(const std::stop_token& stop) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    // Rings wait for nobody: where the kernel lets us, we come before what keeps all CPUs busy.
    constexpr int kBeforeOthers = -10;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kBeforeOthers);
    const std::int64_t began = now_monotonic_ns();
    std::int64_t next_second = 0;
    std::int64_t asked = 0;
    while (!stop.stop_requested()) {
      wait();
      const std::int64_t now = now_monotonic_ns();
      {
        const std::scoped_lock lock(mutex_);
        if (!between_recordings_) read(static_cast<std::uint64_t>(now));
        if (now >= next_second) {
          if (!between_recordings_) events_->forget_ended();
          forget_gone();
          next_second = now + kSecond;
        }
      }
      spent_ = std::chrono::nanoseconds(now_monotonic_ns() - now);
      if (now - began < kSecond) is_urgent_ = true;  // whether there is Python is not known yet
      if (now - asked < std::chrono::nanoseconds(kRest).count()) continue;
      asked = now;
      ask_how_long_ready();
      ask_where_asleep();
    }
  }

  // Functions of Python are read from the process when its sample is: the sooner, the better, as
  // long as that takes only so much of a CPU.
  void wait() {
    constexpr std::int64_t kShare = 10;
    constexpr std::chrono::nanoseconds kMostRest = std::chrono::milliseconds(5);
    if (!is_urgent_) return events_->wait(kRest, wake_.get());
    events_->wait(std::min(kMostRest, spent_ * kShare), wake_.get());
    events_->wait_for_any(kRest, wake_.get());
  }

  // What was written before `now` is in the rings, so it is complete.
  void read_until_now() { read(static_cast<std::uint64_t>(now_monotonic_ns())); }

  // With mutex_, as all below but the last.
  void read(std::uint64_t until) {
    if (gave_up_) return;
    // Rings first, what processes look like behind them: a record tells of a moment before this.
    events_->read(records_);
    if (chosen_) chosen_->refresh();
    rows_->look_anew();
    rows_->damaged_records(events_->take_damaged());
    rows_->refresh();
    records_.release(until, [this](std::span<const std::byte> bytes) {
      const std::optional<perf::Record> record = events_->reader().read(bytes);
      if (record) rows_->take(*record, events_->which(record->id));
    });
    is_urgent_ = rows_->is_urgent();
  }

  // What the kernel told of their end is read after they were found gone: it was told before.
  void forget_gone() {
    if (between_recordings_) return;
    const std::vector<std::int32_t> gone = rows_->gone();
    read_until_now();
    rows_->forget(gone, now_monotonic_ns());
  }

  Status join_process(pid_t process) {
    read_until_now();
    if (rows_->knows(process)) return {};
    const std::int64_t since = now_monotonic_ns();
    if (chosen_) return take_in(process, since);
    FATHOM_ASSIGN(const FollowedThreads followed, follow_process(process, *events_, records_));
    FATHOM_TRY(take_in(process, since, &followed.threads));
    rows_->refused_threads(followed.refused);
    return {};
  }

  // `threads`: those of which records come; nullptr: of all.
  Status take_in(pid_t process, std::int64_t since, const std::set<pid_t>* threads = nullptr) {
    FoundProcess found = finder_.find(process);
    std::erase_if(found.threads, [&](const FoundThread& thread) {
      return threads != nullptr && !threads->contains(thread.tid);
    });
    if (found.threads.empty())
      return Error{Code::kNotFound, "there is no process " + std::to_string(process), ""};
    rows_->found(found, since, now_monotonic_ns());
    read_until_now();
    for (const FoundThread& thread : found.threads) rows_->asleep(process, thread);
    return {};
  }

  // Again and again where somebody may have come since.
  Status join_chosen(const Choice& choice) {
    if (!chosen_) {
      FATHOM_TRY(events_->follow_all());
      chosen_.emplace(choice);
      rows_->choose([this](std::int32_t pid) { return chosen_->has(pid); });
    }
    chosen_->refresh();
    for (const pid_t process : chosen_->running()) {
      if (!rows_->knows(process)) (void)take_in(process, now_monotonic_ns()).has_value();
    }
    return {};
  }

  // Being woken and being let run are two things: the records tell of the second alone.
  void ask_how_long_ready() {
    std::vector<ThreadId> threads;
    {
      const std::scoped_lock lock(mutex_);
      threads = rows_->take_slept();
    }
    for (const ThreadId& thread : threads) {
      const std::optional<std::int64_t> ns = ready_ns(thread);
      const std::scoped_lock lock(mutex_);
      if (ns) rows_->ready(thread, *ns);
    }
  }

  // Whoever may not see the kernel's part has no stacks of waits, and others may have no room for
  // them. /proc tells of waits that last, and of as many as can be asked for in a moment.
  void ask_where_asleep() {
    constexpr std::int64_t kMostNs = 2'000'000;
    constexpr std::int64_t kLasting = 20'000'000;
    struct Seen {
      ThreadId thread;
      ThreadLook look;
      std::int64_t ns;
    };
    const std::int64_t begin = now_monotonic_ns();
    std::vector<ThreadId> threads;
    {
      const std::scoped_lock lock(mutex_);
      if (!between_recordings_ && !gave_up_) threads = rows_->asleep_somewhere(begin - kLasting);
    }
    std::vector<Seen> all;
    for (const ThreadId& thread : threads) {
      const std::int64_t now = now_monotonic_ns();
      if (now - begin > kMostNs) break;
      ThreadLook look;
      sleepers_.see_where_it_sleeps(thread, look);
      all.push_back({thread, std::move(look), now});
    }
    if (all.empty()) return;
    const std::scoped_lock lock(mutex_);
    if (between_recordings_) return;
    read_until_now();
    for (const Seen& one : all) rows_->slept_in(one.thread, one.look, one.ns);
  }

  SamplingOptions options_;
  std::vector<perf::Event> counted_;
  EventCounts counts_;
  KernelNames kernel_;
  std::optional<Error> refused_;
  std::unique_ptr<Source> instead_;                         // where the events are refused
  Fd wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));  // ends the thread's waits
  std::atomic<bool> is_urgent_ = true;
  std::chrono::nanoseconds spent_{0};  // of the thread that runs: on what was read last
  ProcReader sleepers_;                // likewise
  std::mutex mutex_;
  std::optional<SampledEvents> events_;    // guarded by mutex_, but for wait()
  RecordQueue records_;                    // guarded by mutex_
  std::optional<CpuRows> rows_;            // guarded by mutex_
  std::optional<ChosenProcesses> chosen_;  // guarded by mutex_; records of the whole machine come
  ProcessFinder finder_;                   // guarded by mutex_
  std::int64_t turned_ns_ = 0;             // guarded by mutex_
  bool between_recordings_ = false;        // guarded by mutex_
  bool paused_ = false;                    // guarded by mutex_
  bool gave_up_ = false;                   // guarded by mutex_: nobody reads the rings any more,
  bool has_to_tell_ = false;               // and the recording does not say so yet; likewise
  JoinedCounts joined_counts_;             // asks followed()
  std::jthread thread_;                    // last: it ends before what it uses
};

Status check(const SourceContext& context) {
  FATHOM_TRY(options_of(context));
  FATHOM_TRY(perf::parse_each(context.count));
  return {};
}

// By trying: with the kernel's part, without, or by /proc.
Availability probe(std::string_view /*layer*/) {
  Result<SampledEvents> events = SampledEvents::open({});
  const Status followed =
      events ? events->follow(0, 0, SampledEvents::From::kExec) : Status(events.error());
  if (!followed) return proc_availability(followed.error());
  if (events->sees_kernel()) return {};
  return {.available = true, .reason = kUserAlone, .fix = events->kernel_refusal().hint};
}

std::unique_ptr<Source> make() { return std::make_unique<CpuSource>(); }

}  // namespace

extern const SourceDef kCpu;
const SourceDef kCpu = {
    .name = "cpu",
    .layers = kLayers,
    .help = "where threads spend their time: sampled stacks, and every stretch off the CPU",
    .in_process = false,
    .joins = true,
    .check = check,
    .probe = probe,
    .make = make,
};

}  // namespace fathom::sources
