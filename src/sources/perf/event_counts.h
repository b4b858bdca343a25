// SPDX-License-Identifier: MIT
// Chosen events of each process over time, into `counters`: what `--count` asks for. A thread looks
// at the processes that live; what each has counted at its end comes from the kernel, exact.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "perf/counting.h"
#include "perf/event.h"
#include "sources/perf/process_counts.h"
#include "sources/perf/record_queue.h"
#include "sources/perf/tree_counters.h"
#include "trace/decode/host_rows.h"

namespace fathom::sources {

// Each event by itself, as the kernel counts it: rows bring values into their unit.
[[nodiscard]] std::vector<perf::EventGroup> each_alone(const std::vector<perf::Event>& events);
// Rows of `counters`, whose values are in the events' units.
void add_counter_rows(const std::vector<CountRow>& rows, const std::vector<perf::Event>& events,
                      trace::Strings& strings, trace::HostRows& into);

// As a Source: the session's thread calls all but drain().
class EventCounts {
 public:
  void adopt(pid_t process, const std::vector<perf::Event>& events);
  void start(std::int64_t start_monotonic_ns, std::int64_t interval_ns);
  void stop();
  void drain(trace::Strings& strings, trace::HostRows& rows);
  // What is not counted though it was asked for, one sentence; "": nothing.
  [[nodiscard]] std::string lack() const;

 private:
  void work(const std::stop_token& stop);
  void read_records(std::uint64_t until);
  void look_at_the_living();
  void tell(std::vector<CountRow> rows);
  [[nodiscard]] std::int64_t ts(std::uint64_t time) const {
    return static_cast<std::int64_t>(time) - start_ns_;
  }

  pid_t process_ = 0;
  std::optional<TreeCounters> counters_;
  std::optional<perf::Counting> of_program_;  // until start()
  std::int64_t start_ns_ = 0;
  std::int64_t interval_ns_ = 0;
  // Of the thread that runs.
  RecordQueue records_;
  std::optional<ProcessCounts> counts_;
  std::map<Living, perf::Counting> looked_at_;
  std::mutex mutex_;
  std::vector<CountRow> rows_;  // guarded by mutex_
  std::uint64_t lost_ = 0;      // guarded by mutex_
  std::jthread thread_;         // last: it ends before what it uses
};

}  // namespace fathom::sources
