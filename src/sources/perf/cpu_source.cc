// SPDX-License-Identifier: MIT
// The source `cpu`: a thread beside the program that reads the kernel's rings ten times a second,
// and whenever one is half full.
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "perf/event.h"
#include "perf/open.h"
#include "sources/perf/cpu_rows.h"
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
  if (!text) return std::nullopt;
  const std::vector<std::string_view> words = split(trim(*text), ' ');
  const Result<std::int64_t> ns = parse_int(words.size() >= 2 ? words[1] : "");
  return ns ? std::optional(*ns) : std::nullopt;
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

class CpuSource final : public Source {
 public:
  Status prepare(const SourceContext& context) override {
    FATHOM_ASSIGN(options_, options_of(context));
    kernel_ = kernel_names();
    return {};
  }

  // The program runs whatever comes of this: start() tells.
  Status adopt(pid_t process) override {
    Result<SampledEvents> events = SampledEvents::open(process, options_);
    if (events) {
      events_.emplace(std::move(events).value());
    } else {
      refused_ = events.error();
    }
    // (What another event than the clock counts, nobody else can tell.)
    if (!refused_ || !options_.event.is_clock()) return {};
    instead_ = make_proc_source(*refused_);
    return instead_->adopt(process);
  }

  Status start(const SourceContext& context) override {
    if (instead_) return instead_->start(context);
    if (refused_) return *refused_;
    rows_.emplace(CpuRowsOptions{.start_monotonic_ns = context.start_monotonic_ns,
                                 .event = options_.event.name,
                                 .is_clock = options_.event.is_clock(),
                                 .rung = events_->sees_kernel() ? "perf" : "perf-user",
                                 .no_command = context.no_command,
                                 .kernel = kernel_});
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    return {};
  }

  [[nodiscard]] std::map<std::string, std::string> lacks() const override {
    if (instead_) return instead_->lacks();
    if (!events_ || events_->sees_kernel()) return {};
    return {{std::string(trace::kSampledLayer), kUserAlone}};
  }

  void stop() override {
    if (instead_) return instead_->stop();
    thread_.request_stop();
    (void)::eventfd_write(wake_.get(), 1);
    if (thread_.joinable()) thread_.join();
  }

  void drain(trace::Strings& strings, trace::HostRows& rows) override {
    if (instead_) return instead_->drain(strings, rows);
    const std::scoped_lock lock(mutex_);
    if (rows_) rows_->drain(strings, rows);
  }

 private:
  void work(const std::stop_token& stop) {
    // Rings wait for nobody: where the kernel lets us, we come before what keeps all CPUs busy.
    constexpr int kBeforeOthers = -10;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kBeforeOthers);
    // Whether there is any Python is not known yet.
    constexpr std::int64_t kBeginning = 1'000'000'000;
    const std::int64_t began = now_monotonic_ns();
    std::int64_t asked = 0;
    while (!stop.stop_requested()) {
      wait();
      const std::int64_t now = now_monotonic_ns();
      read(static_cast<std::uint64_t>(now));
      spent_ = std::chrono::nanoseconds(now_monotonic_ns() - now);
      is_urgent_ = is_urgent_ || now - began < kBeginning;
      if (now - asked < std::chrono::nanoseconds(kRest).count()) continue;
      asked = now;
      ask_how_long_ready();
    }
    const std::int64_t now = now_monotonic_ns();
    read(~std::uint64_t{0});
    const std::scoped_lock lock(mutex_);
    rows_->stop(now);
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
  void read(std::uint64_t now) {
    events_->read(records_);
    const std::scoped_lock lock(mutex_);
    rows_->look_anew();
    rows_->missed_stacks(events_->take_missed());
    rows_->damaged_records(events_->take_damaged());
    rows_->refresh();
    records_.release(now, [this](std::span<const std::byte> bytes) {
      const std::optional<perf::Record> record = events_->reader().read(bytes);
      if (record) rows_->take(*record, events_->which(record->id));
    });
    is_urgent_ = rows_->is_urgent();
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

  SamplingOptions options_;
  KernelNames kernel_;
  std::optional<Error> refused_;
  std::unique_ptr<Source> instead_;      // where the events are refused
  std::optional<SampledEvents> events_;  // of the thread that runs
  RecordQueue records_;
  Fd wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));  // ends its waits
  bool is_urgent_ = true;
  std::chrono::nanoseconds spent_{0};  // on what was read last
  std::mutex mutex_;
  std::optional<CpuRows> rows_;  // guarded by mutex_
  std::jthread thread_;          // last: it ends before what it uses
};

Status check(const SourceContext& context) {
  FATHOM_TRY(options_of(context));
  return {};
}

// By trying: with the kernel's part, without, or by /proc.
Availability probe(std::string_view /*layer*/) {
  const Result<SampledEvents> events = SampledEvents::open(0, {.event = {}, .from_exec = true});
  if (!events) return proc_availability(events.error());
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
    .check = check,
    .probe = probe,
    .make = make,
};

}  // namespace fathom::sources
