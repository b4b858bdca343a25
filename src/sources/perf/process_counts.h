// SPDX-License-Identifier: MIT
// What each process counted, from what the kernel says when threads end, and from looks at those
// that live.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "perf/records.h"

namespace fathom::sources {

// A number of events of one kind. Where a CPU had to share its counters, it ran for a part of the
// time only.
struct Counted {
  double value = 0;
  double enabled = 0;  // ns, on each CPU
  double running = 0;  // ns, on all of them together

  Counted& operator+=(const Counted& other);
  Counted& operator-=(const Counted& other);
};

// A process that lives. Its number may be another one's later.
struct Living {
  std::int32_t pid = 0;
  std::uint64_t serial = 0;
  auto operator<=>(const Living&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A value of a counter of layer cpu.
struct CountRow {
  std::int64_t ts = 0;
  std::int32_t pid = 0;
  std::size_t event = 0;
  double value = 0;  // of the process since it began
};

// The kernel tells what an ended thread counted, for each event and CPU: but for one thread, whose
// share is in the events themselves. (Which one it is changes: threads that wait for each other may
// swap their counters.) Times are those of the records. One thread at a time.
class ProcessCounts {
 public:
  ProcessCounts(std::size_t events, std::size_t cpus) : events_(events), cpus_(cpus) {}

  void began(std::int32_t pid);
  void take(const perf::Task& task, std::int64_t ts);
  void take(const perf::Tally& tally, std::size_t event, std::size_t cpu);
  // What a process that lives has counted since somebody looked at it first: at most all.
  void seen(std::int32_t pid, std::size_t event, double value, std::int64_t ts);

  [[nodiscard]] std::vector<Living> alive() const;
  // Rows of processes that have ended, as far as all of their threads are known, and what was seen.
  std::vector<CountRow> take_rows();
  // Nobody looks any more. `totals` are those of the events, by event, then CPU.
  std::vector<CountRow> stop(const std::vector<Counted>& totals);

 private:
  struct Process {
    Living id;
    std::int64_t end = 0;
    std::size_t alive = 1;             // threads
    std::size_t threads = 1;           // that there ever were
    std::vector<std::size_t> tallies;  // by event and CPU: threads that told
    std::vector<Counted> counted;      // by event
    std::vector<double> told;          // by event: the last row's value
  };
  Process* find(std::int32_t pid);
  [[nodiscard]] bool is_known(const Process& process) const;
  void tell(Process& process, std::size_t event, double value, std::int64_t ts);
  void tell_end(Process& process);
  void hand_out(std::vector<Counted> left);

  std::size_t events_;
  std::size_t cpus_;
  std::map<std::int32_t, Process> alive_;
  std::vector<Process> ended_;  // whose last rows are to come
  std::vector<Counted> tallied_ = std::vector<Counted>(events_ * cpus_);
  std::vector<CountRow> rows_;
  std::uint64_t made_ = 0;  // processes
};

}  // namespace fathom::sources
