// SPDX-License-Identifier: MIT
// Exact counts of events over a process and all that comes from it: no samples, nothing inside the
// program. The kernel adds up what children and threads counted, also of those that have ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "perf/event.h"

namespace fathom::perf {

// What became of one event.
struct Count {
  std::string name;
  std::string unit;
  // Scaled to the whole time where the CPU had to share its counters among too many events. None:
  // not counted, and `reason` says why; never a 0 that nobody counted.
  std::optional<double> value;
  double coverage = 0;     // share of the time for which it was counted
  bool user_only = false;  // what happens in the kernel is not in it, though nobody asked for that
  std::string reason;
  std::string fix;  // the line that changes it; "" where there is none
};

// Counters of one process tree. Must outlive what it counts; one thread.
class Counting {
 public:
  enum class Start {
    kExec,  // when `process`, which waits to become a program, does so
    kNow,   // with enable(): of a process that runs, all its threads, and children from then on
  };
  enum class Scope {
    kTree,     // children, too
    kProcess,  // the process with its threads alone; needs Linux 5.13
  };
  // Events that cannot be opened are left out, and read() tells why. An Error: there is no such
  // process.
  static Result<Counting> open(const std::vector<EventGroup>& groups, pid_t process, Start start,
                               Scope scope = Scope::kTree);

  void enable();
  // In the order of the groups. The process may go on.
  [[nodiscard]] std::vector<Count> read() const;
  // Whether an event, by its place in the groups, could not be opened; else a Count without a value
  // may have one later.
  [[nodiscard]] bool is_refused(std::size_t event) const {
    return counters_[event].refused.has_value();
  }
  // How many events are counted.
  [[nodiscard]] std::size_t opened() const;
  // Why there are none: what this user may not do, if that is it, before what there is not.
  [[nodiscard]] Error why_none() const;

 private:
  struct Counter {
    Event event;
    bool user_only = false;
    std::optional<Error> refused;
    std::vector<Fd> of_threads;
  };
  Counting(const std::vector<EventGroup>& groups, Start start, Scope scope);
  void open_group(const EventGroup& group, std::size_t first, pid_t thread);
  void open_thread(const std::vector<EventGroup>& groups, pid_t thread);
  [[nodiscard]] Count read_one(const Counter& counter) const;

  Start start_;
  Scope scope_;
  std::vector<Counter> counters_;
};

}  // namespace fathom::perf
