// SPDX-License-Identifier: MIT
// One run of a program, or some time of a process that runs, measured from outside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/counting.h"
#include "session/signal_queue.h"

namespace fathom::session {

// Bytes that went through system calls, and those that reached a disk; of the process and of all
// descendants that were waited for.
struct IoBytes {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t disk_read = 0;
  std::uint64_t disk_written = 0;
};

// Faults and switches, of the same processes.
struct Tally {
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

// What one run took.
struct Measured {
  std::optional<int> exit;  // 128 + N by signal N; none: it is not our child
  int signal = 0;           // N; 0: none
  double wall = 0;          // seconds
  double user = 0;
  double system = 0;
  // Bytes, of the largest process; at least what the child had before it became the program.
  std::uint64_t max_rss = 0;
  std::optional<Tally> tally;  // none: nobody but its parent is told
  std::optional<IoBytes> io;   // none: this user may not read it
  std::vector<perf::Count> events;
};

// What is to be run and counted.
struct Measurement {
  std::vector<std::string> words;  // the program and its arguments
  std::vector<perf::EventGroup> events;
  std::vector<int> cpus;  // it may run on; empty: all
  // Without a single event that can be counted there is no use in running it: an Error that names
  // why.
  bool needs_events = false;
};

// Runs a program to its end; streams, signals and environment are its own. An Error means that it
// was not started; shell_status() has what a shell would say of errors of find_program.
Result<Measured> measure(const Measurement& wanted, SignalQueue& signals);

// Counts a process, its threads and what they start from now on, until it ends or a signal asks us
// to. User, system and max_rss are those of the last look at it, at most a tenth of a second
// before.
Result<Measured> measure_running(pid_t process, const std::vector<perf::EventGroup>& events,
                                 SignalQueue& signals);

}  // namespace fathom::session
