// SPDX-License-Identifier: MIT
// A series of runs: what `fathom stat` does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/event.h"
#include "session/stat/measure.h"
#include "session/stat/noise.h"

namespace fathom::session {

// What is to be measured, and how often.
struct StatOptions {
  std::vector<std::vector<std::string>> commands;  // at least one, of at least one word
  std::vector<perf::EventGroup> events;
  bool needs_events = false;    // somebody asked for these events
  std::int64_t warmup = 0;      // runs of each that do not count
  std::int64_t runs = 1;        // of each; the least number where `enough` decides
  bool ignore_failure = false;  // go on after a run that did not end with 0
  std::uint64_t seed = 1;       // of the order in which commands take turns
  std::vector<int> cpus;        // to run on; empty: all
  std::int64_t budget_ns = 0;   // no run begins later than this; 0: none
  // Asked after each round from `runs` on, by command, whether it may stop; empty: it may.
  std::function<bool(const std::vector<std::vector<Measured>>& runs)> enough = {};
};

// What came of the series, as far as it went.
struct StatOutcome {
  std::vector<std::vector<Measured>> runs;  // by command, in the order in which they ran
  // The first status that was not 0; what a shell says where a program could not be started.
  int exit_status = 0;
  std::optional<Error> not_started;
  bool interrupted = false;  // a signal ended the series
  Noise noise;
};

// Runs each command as often as asked, in rounds in which each has a turn, at a place that is
// drawn: a machine that grows slow meanwhile is slow for all of them alike. An Error means that
// nothing ran. Call before any other thread of this process is started.
Result<StatOutcome> stat(const StatOptions& options);

// The same of a process that runs.
Result<StatOutcome> stat_process(pid_t process, const std::vector<perf::EventGroup>& events);

}  // namespace fathom::session
