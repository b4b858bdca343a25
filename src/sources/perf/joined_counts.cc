// SPDX-License-Identifier: MIT
// One thread looks at all processes in an interval and keeps a counter open for each. drain() is
// called by another thread, so the rows between them are behind the mutex.
#include "sources/perf/joined_counts.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "sources/perf/event_counts.h"

namespace fathom::sources {

void JoinedCounts::prepare(std::vector<perf::Event> events,
                           std::function<std::vector<Followed>()> whom) {
  events_ = std::move(events);
  whom_ = std::move(whom);
}

void JoinedCounts::start(std::int64_t start_monotonic_ns, std::int64_t interval_ns) {
  if (events_.empty()) return;
  start_ns_ = start_monotonic_ns;
  interval_ns_ = interval_ns;
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void JoinedCounts::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void JoinedCounts::work(const std::stop_token& stop) {
  std::mutex rest;
  std::condition_variable_any wakes;
  while (!stop.stop_requested()) {
    look();
    std::unique_lock lock(rest);
    wakes.wait_for(lock, stop, std::chrono::nanoseconds(interval_ns_), [] { return false; });
  }
  look();
  processes_.clear();
}

// Those that are gone are read a last time.
void JoinedCounts::look() {
  const std::vector<Followed> all = whom_();
  const std::set<Followed> alive(all.begin(), all.end());
  for (const Followed& one : alive) add(one);
  for (auto& [id, process] : processes_) tell(id, process);
  std::erase_if(processes_, [&](const auto& one) { return !alive.contains(one.first); });
}

void JoinedCounts::add(const Followed& process) {
  if (processes_.contains(process)) return;
  Result<perf::Counting> counting =
      perf::Counting::open(each_alone(events_), process.process, perf::Counting::Start::kNow,
                           perf::Counting::Scope::kProcess);
  if (!counting) return;  // it has ended
  counting->enable();
  processes_.insert_or_assign(
      process, Process{std::move(counting).value(), std::vector<double>(events_.size(), -1)});
}

// A count never falls, and one that stays is told once.
void JoinedCounts::tell(const Followed& id, Process& process) {
  const std::int64_t now = now_monotonic_ns() - start_ns_;
  const std::vector<perf::Count> counts = process.counting.read();
  const std::scoped_lock lock(mutex_);
  for (std::size_t event = 0; event < counts.size(); ++event) {
    const perf::Count& count = counts[event];
    if (count.user_only)
      lacking_.try_emplace(count.name, count.name + " without what happens in the kernel");
    if (!count.value && process.counting.is_refused(event))
      lacking_.try_emplace(count.name, count.name + ": " + count.reason +
                                           (count.fix.empty() ? "" : " (" + count.fix + ")"));
    if (!count.value || *count.value <= process.told[event]) continue;
    process.told[event] = *count.value;
    rows_.push_back({now, id.process, event, *count.value * events_[event].scale});
  }
}

std::string JoinedCounts::lack() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> sentences;
  for (const auto& [event, sentence] : lacking_) sentences.push_back(sentence);
  return sentences.empty() ? "" : "--count " + join(sentences, "; --count ");
}

void JoinedCounts::drain(trace::Strings& strings, trace::HostRows& into) {
  const std::scoped_lock lock(mutex_);
  add_counter_rows(std::exchange(rows_, {}), events_, strings, into);
}

}  // namespace fathom::sources
