// SPDX-License-Identifier: MIT
// Chosen events of processes that run already, over time, into `counters`: `--count` of `attach`. A
// process is counted from when it was first seen. Its counters stay readable when it has ended, so
// that its last row is exact.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "perf/counting.h"
#include "perf/event.h"
#include "sources/perf/process_counts.h"
#include "sources/source.h"

namespace fathom::sources {

// As a Source: the session's thread calls all but drain().
class JoinedCounts {
 public:
  // `whom` is asked again and again, by a thread of ours.
  void prepare(std::vector<perf::Event> events, std::function<std::vector<Followed>()> whom);
  void start(std::int64_t start_monotonic_ns, std::int64_t interval_ns);
  void stop();
  void drain(trace::Strings& strings, trace::HostRows& rows);
  // What is not counted though it was asked for, one sentence; "": nothing.
  [[nodiscard]] std::string lack() const;

 private:
  struct Process {
    perf::Counting counting;
    std::vector<double> told;  // by event: the last row's value
  };

  void work(const std::stop_token& stop);
  void look();
  void add(const Followed& process);
  void tell(const Followed& id, Process& process);

  std::vector<perf::Event> events_;
  std::function<std::vector<Followed>()> whom_;
  std::int64_t start_ns_ = 0;
  std::int64_t interval_ns_ = 0;
  std::map<Followed, Process> processes_;  // of the thread that runs
  mutable std::mutex mutex_;
  std::vector<CountRow> rows_;                  // guarded by mutex_
  std::map<std::string, std::string> lacking_;  // likewise: sentences, by event
  std::jthread thread_;                         // last: it ends before what it uses
};

}  // namespace fathom::sources
