// SPDX-License-Identifier: MIT
// What a recording that is being made tells at one moment. Rates are per second, over the time
// since the look before; a call or a wait counts when it has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::analysis {

// A process that has not ended.
struct ProcessNow {
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank = {};
  std::string program;
  std::string command = {};
  std::int64_t start_ns = 0;       // since the begin of the recording
  std::optional<double> cpu = {};  // CPUs that it uses
  std::optional<std::int64_t> memory_bytes = {};
};

// Calls of one process and name. Texts are valid until the next look.
struct CallNow {
  std::int64_t pid = 0;
  std::string_view layer;
  std::string_view name;
  std::string_view category;
  double calls = 0;  // per second, as are all of these
  double bytes = 0;
  double self_ns = 0;    // without the calls inside
  double beyond_ns = 0;  // of that, reads and writes of what is no file: waits for another process
  std::int64_t total_calls = 0;
  std::int64_t total_self_ns = 0;
};

// Where threads of a process ran, or what they waited for.
struct TimeNow {
  std::int64_t pid = 0;
  std::string_view cause;  // of a wait; "": it ran
  std::string_view what;   // the function
  double ns = 0;           // per second
  std::int64_t total_ns = 0;
};

// The last value of a counter. Texts are valid until the next look.
struct CounterNow {
  std::string_view name;
  std::string_view unit;  // "" where nobody told one
  double value = 0;
};

// A thread that is in a recorded call right now.
struct ThreadNow {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string call;
  std::int64_t since_ns = 0;  // how long
};

struct Activity {
  std::string writers;          // who records, in words that follow a name; "": it has ended
  std::int64_t elapsed_ns = 0;  // since its begin
  bool has_rates = false;       // of all that is recorded; the first look has none
  double events = 0;            // per second
  std::int64_t total_events = 0;
  std::uint64_t lost = 0;      // events that the programs had no room for
  std::uint64_t left_out = 0;  // threads beyond what a look may read
  bool sampled = false;        // layer cpu is there: functions and waits are known
  std::uint64_t ended = 0;     // processes
  std::vector<ProcessNow> processes;
  std::vector<CallNow> calls;
  std::vector<TimeNow> functions;
  std::vector<TimeNow> waits;
  std::vector<ThreadNow> threads;
  std::vector<CounterNow> counters;         // of the whole run, as the recorder sampled them
  std::vector<CounterNow> app_counters;     // that programs told, whichever process did
  std::uint64_t app_counters_left_out = 0;  // values of too many names (latest_counters.h)
};

}  // namespace fathom::analysis
