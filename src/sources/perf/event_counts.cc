// SPDX-License-Identifier: MIT
// A process is looked at by counters of its own. Those of the program begin with it; others know
// nothing of the time before they were opened: a look tells at most what there is, and the last
// row, at the end of the process, tells all of it.
#include "sources/perf/event_counts.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "trace/rows/layers.h"

namespace fathom::sources {
namespace {

constexpr std::int64_t kRingNs = 100'000'000;  // rings are read at least as often

}  // namespace

std::vector<perf::EventGroup> each_alone(const std::vector<perf::Event>& events) {
  std::vector<perf::EventGroup> groups;
  for (const perf::Event& event : events) {
    groups.push_back({{event}});
    // Values are scaled once, when they are told.
    groups.back().events[0].scale = 1;
  }
  return groups;
}

void add_counter_rows(const std::vector<CountRow>& rows, const std::vector<perf::Event>& events,
                      trace::Strings& strings, trace::HostRows& into) {
  for (const CountRow& row : rows) {
    const perf::Event& event = events[row.event];
    trace::CounterRow made;
    made.ts = row.ts;
    made.pid = row.pid;
    made.layer = strings.code(trace::kSampledLayer);
    made.name = strings.code(event.name);
    made.unit = strings.code_or_null(event.unit);
    made.value = row.value;
    into.counters.rows.push_back(made);
  }
}

void EventCounts::adopt(pid_t process, const std::vector<perf::Event>& events) {
  if (events.empty()) return;
  process_ = process;
  counters_.emplace(TreeCounters::open(process, events));
  Result<perf::Counting> whole =
      perf::Counting::open(each_alone(counters_->events()), process, perf::Counting::Start::kExec,
                           perf::Counting::Scope::kProcess);
  if (whole) of_program_.emplace(std::move(whole).value());
}

std::string EventCounts::lack() const {
  if (!counters_ || counters_->refused().empty()) return "";
  return "--count " + join(counters_->refused(), "; --count ");
}

void EventCounts::start(std::int64_t start_monotonic_ns, std::int64_t interval_ns) {
  if (!counters_ || counters_->events().empty()) return;
  start_ns_ = start_monotonic_ns;
  interval_ns_ = interval_ns;
  counts_.emplace(counters_->events().size(), counters_->cpus());
  counts_->began(process_);
  if (of_program_) looked_at_.emplace(counts_->alive().front(), *std::move(of_program_));
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void EventCounts::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void EventCounts::work(const std::stop_token& stop) {
  std::mutex rest;
  std::condition_variable_any wakes;
  std::int64_t next_look = now_monotonic_ns();
  while (!stop.stop_requested()) {
    const std::int64_t now = now_monotonic_ns();
    read_records(static_cast<std::uint64_t>(now));
    if (now >= next_look) {
      look_at_the_living();
      next_look += interval_ns_ * ((now - next_look) / interval_ns_ + 1);
    }
    tell(counts_->take_rows());
    const std::int64_t wait = std::min(kRingNs, next_look - now_monotonic_ns());
    std::unique_lock lock(rest);
    wakes.wait_for(lock, stop, std::chrono::nanoseconds(std::max<std::int64_t>(wait, 0)),
                   [] { return false; });
  }
  read_records(~std::uint64_t{0});
  look_at_the_living();
  tell(counts_->stop(counters_->totals()));
  looked_at_.clear();
}

// What was written before `until` is in the rings, so it is complete.
void EventCounts::read_records(std::uint64_t until) {
  counters_->read(records_);
  records_.release(until, [this](std::span<const std::byte> bytes) {
    const std::optional<perf::Record> record = counters_->reader().read(bytes);
    if (!record) return;
    if (const auto* task = std::get_if<perf::Task>(&record->body))
      return counts_->take(*task, ts(record->id.time));
    const auto* told = std::get_if<perf::Tally>(&record->body);
    const std::optional<TreeCounters::Which> which = counters_->which(record->id.id);
    if (told == nullptr || !which) return;
    perf::Tally tally = *told;
    if (!counters_->is_shared(which->event)) tally.enabled = tally.running = 0;
    counts_->take(tally, which->event, which->cpu);
  });
}

void EventCounts::look_at_the_living() {
  const std::vector<Living> alive = counts_->alive();
  const std::set<Living> living(alive.begin(), alive.end());
  std::erase_if(looked_at_, [&](const auto& one) { return !living.contains(one.first); });
  for (const Living& process : alive) {
    auto found = looked_at_.find(process);
    if (found == looked_at_.end()) {
      Result<perf::Counting> counting =
          perf::Counting::open(each_alone(counters_->events()), process.pid,
                               perf::Counting::Start::kNow, perf::Counting::Scope::kProcess);
      if (!counting) continue;
      counting->enable();
      found = looked_at_.emplace(process, std::move(counting).value()).first;
    }
    const std::int64_t now = now_monotonic_ns() - start_ns_;
    const std::vector<perf::Count> counts = found->second.read();
    for (std::size_t event = 0; event < counts.size(); ++event)
      counts_->seen(process.pid, event, counts[event].value.value_or(0), now);
  }
}

// Called by the thread that reads the rings; drain() comes from another one.
void EventCounts::tell(std::vector<CountRow> rows) {
  for (CountRow& row : rows) row.value *= counters_->events()[row.event].scale;
  const std::scoped_lock lock(mutex_);
  std::ranges::move(rows, std::back_inserter(rows_));
  lost_ += counters_->take_lost();
}

void EventCounts::drain(trace::Strings& strings, trace::HostRows& into) {
  if (!counters_) return;
  const std::scoped_lock lock(mutex_);
  add_counter_rows(std::exchange(rows_, {}), counters_->events(), strings, into);
  if (const std::uint64_t lost = std::exchange(lost_, 0); lost > 0) {
    into.losses.push_back({std::string(trace::kSampledLayer),
                           "counts of threads for which the ring had no room",
                           static_cast<std::int64_t>(lost)});
  }
}

}  // namespace fathom::sources
