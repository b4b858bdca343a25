// SPDX-License-Identifier: MIT
// Somebody who runs programs for us: this machine, a container engine, a batch system, a build
// server. Whoever has work to do speaks to this interface alone. Queues and machines are theirs: we
// hand work over, ask how it stands, take it back, and fetch what came of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::fleet {

// A task, as an executor gets it: complete, so that it can be done anywhere and done again.
struct Work {
  std::string id;     // nobody else's, ever: letters, digits, '-' and '.'
  std::string place;  // its folder; what comes of it lies there in the end
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // beside what is there
  std::string directory;                           // to run in; "": the place
  std::int64_t timeout_ns = 0;                     // 0: none
  std::int64_t grace_ns = 2'000'000'000;           // from being cancelled to being killed
  // Where a machine was lost before: somewhere else, if the executor knows others.
  std::vector<std::string> avoid;
};

// Written by whoever did the work; the executor believes it over what its queue says.
struct WorkOutcome {
  int exit = 0;     // as a shell says it
  double wall = 0;  // seconds
  double user = 0;
  double system = 0;
  std::uint64_t max_rss = 0;  // bytes
  std::string host;
  bool timed_out = false;
};

enum class WorkPhase : std::uint8_t {
  kWaiting,
  kRunning,
  kEnded,  // with an outcome
  kLost,   // it will never end: its machine is gone, or somebody took it away
};

// What an executor knows at this moment. There is an outcome exactly when it has ended.
struct WorkState {
  WorkPhase phase = WorkPhase::kWaiting;
  std::optional<WorkOutcome> outcome;
  std::string host;  // "": not known
  std::string why;   // it waits, or is lost
};

// One thread at a time. What was submitted and has not ended is cancelled by whoever submitted it,
// not by a destructor: a batch system goes on without us.
class Executor {
 public:
  virtual ~Executor() = default;

  // The words that run `command` as this executor wants programs to be run (in a container).
  [[nodiscard]] virtual std::vector<std::string> wrap(const std::string& id,
                                                      std::vector<std::string> command) const {
    (void)id;
    return command;
  }
  // All of them or none. They begin when all works of `after` have ended, however; only where
  // orders_work().
  virtual Status submit(const std::vector<Work>& works, const std::vector<std::string>& after) = 0;
  [[nodiscard]] virtual bool orders_work() const { return false; }
  // `again` does what `lost` was to do: who waits for one waits for the other.
  virtual void replaced(const std::string& lost, const std::string& again) {
    (void)lost;
    (void)again;
  }
  // How long to wait between two questions where nothing happens: others use it, too.
  [[nodiscard]] virtual int poll_ms() const { return 200; }
  // Of all works that were submitted. kUnavailable: nobody answers now.
  virtual Result<std::map<std::string, WorkState>> states() = 0;
  // One that has ended, too, is no error.
  virtual Status cancel(const std::string& id) = 0;
  // What the program has printed so far, or its end where that is much.
  virtual Result<std::string> log(const std::string& id) = 0;
  // Files of an ended work that are not in its place yet.
  virtual Status fetch(const std::string& id) {
    (void)id;
    return {};
  }

 protected:
  Executor() = default;
  Executor(const Executor&) = default;
  Executor& operator=(const Executor&) = default;
};

}  // namespace fathom::fleet
