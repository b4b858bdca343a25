// SPDX-License-Identifier: MIT
// Books what threads told at their end, and hands out what nobody told when the recording stops. No
// system call is made here: tree_counters.cc reads the numbers.
#include "sources/perf/process_counts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::sources {
namespace {

// Clocks of the CPUs' counters differ by less than this where nothing was shared.
constexpr double kShared = 0.99;
// Of the process that was there first. It waits for what is left over.
constexpr std::uint64_t kProgram = 1;

// As if it had been counted all the time.
double scaled(const Counted& counted, std::size_t cpus) {
  const double enabled = counted.enabled / static_cast<double>(cpus);
  if (counted.running <= 0 || counted.running >= kShared * enabled) return counted.value;
  return counted.value * enabled / counted.running;
}

}  // namespace

Counted& Counted::operator+=(const Counted& other) {
  value += other.value;
  enabled += other.enabled;
  running += other.running;
  return *this;
}

Counted& Counted::operator-=(const Counted& other) {
  value = std::max(0.0, value - other.value);
  enabled = std::max(0.0, enabled - other.enabled);
  running = std::max(0.0, running - other.running);
  return *this;
}

void ProcessCounts::began(std::int32_t pid) {
  Process process;
  process.id = {pid, ++made_};
  process.tallies.resize(events_ * cpus_);
  process.counted.resize(events_);
  process.told.resize(events_, -1);
  alive_.insert_or_assign(pid, std::move(process));
}

// What ended last comes first: numbers are used again.
ProcessCounts::Process* ProcessCounts::find(std::int32_t pid) {
  if (const auto found = alive_.find(pid); found != alive_.end()) return &found->second;
  const auto ended = std::find_if(ended_.rbegin(), ended_.rend(),
                                  [pid](const Process& one) { return one.id.pid == pid; });
  return ended != ended_.rend() ? &*ended : nullptr;
}

void ProcessCounts::take(const perf::Task& task, std::int64_t ts) {
  const auto pid = static_cast<std::int32_t>(task.pid);
  if (!task.is_exit && task.pid != task.parent) return began(pid);
  const auto found = alive_.find(pid);
  if (found == alive_.end()) return;
  Process& process = found->second;
  if (!task.is_exit) {
    process.alive++;
    process.threads++;
    return;
  }
  if (--process.alive > 0) return;
  process.end = ts;
  ended_.push_back(std::move(process));
  alive_.erase(found);
}

void ProcessCounts::take(const perf::Tally& tally, std::size_t event, std::size_t cpu) {
  const Counted counted{static_cast<double>(tally.value), static_cast<double>(tally.enabled),
                        static_cast<double>(tally.running)};
  tallied_[event * cpus_ + cpu] += counted;
  Process* const process = find(static_cast<std::int32_t>(tally.pid));
  if (process == nullptr) return;
  process->tallies[event * cpus_ + cpu]++;
  process->counted[event] += counted;
}

void ProcessCounts::seen(std::int32_t pid, std::size_t event, double value, std::int64_t ts) {
  if (const auto found = alive_.find(pid); found != alive_.end())
    tell(found->second, event, value, ts);
}

// A count never falls, and one that stays is told once.
void ProcessCounts::tell(Process& process, std::size_t event, double value, std::int64_t ts) {
  if (value <= process.told[event]) return;
  process.told[event] = value;
  rows_.push_back({ts, process.id.pid, event, value});
}

void ProcessCounts::tell_end(Process& process) {
  for (std::size_t event = 0; event < events_; ++event)
    tell(process, event, scaled(process.counted[event], cpus_), process.end);
}

bool ProcessCounts::is_known(const Process& process) const {
  return std::ranges::all_of(process.tallies,
                             [&](std::size_t told) { return told >= process.threads; });
}

std::vector<Living> ProcessCounts::alive() const {
  std::vector<Living> ids;
  for (const auto& [pid, process] : alive_) ids.push_back(process.id);
  return ids;
}

std::vector<CountRow> ProcessCounts::take_rows() {
  std::erase_if(ended_, [this](Process& process) {
    if (!is_known(process) || process.id.serial == kProgram) return false;
    tell_end(process);
    return true;
  });
  return std::exchange(rows_, {});
}

// What no thread told belongs to those who did not tell, one for each event and CPU, or else to the
// program. Processes that live have their part of it; as much as was seen of them is theirs.
void ProcessCounts::hand_out(std::vector<Counted> left) {
  for (std::size_t event = 0; event < events_; ++event) {
    double of_others = 0;
    for (const auto& [pid, process] : alive_) of_others += std::max(0.0, process.told[event]);
    for (std::size_t cpu = 0; cpu < cpus_; ++cpu) {
      Counted& rest = left[event * cpus_ + cpu];
      const double theirs = std::min(rest.value, of_others);
      rest.value -= theirs;
      of_others -= theirs;
      auto silent = std::ranges::find_if(ended_, [&](const Process& process) {
        return process.tallies[event * cpus_ + cpu] < process.threads;
      });
      if (silent == ended_.end())
        silent = std::ranges::find(ended_, kProgram,
                                   [](const Process& process) { return process.id.serial; });
      if (silent != ended_.end()) silent->counted[event] += rest;
    }
  }
}

std::vector<CountRow> ProcessCounts::stop(const std::vector<Counted>& totals) {
  std::vector<Counted> left = totals;
  for (std::size_t i = 0; i < left.size() && i < tallied_.size(); ++i) left[i] -= tallied_[i];
  hand_out(std::move(left));
  for (Process& process : ended_) tell_end(process);
  ended_.clear();
  return std::exchange(rows_, {});
}

}  // namespace fathom::sources
