// SPDX-License-Identifier: MIT
// The first process of a container whose image profiles itself. It runs one step after another,
// each in a child process of the same process group and terminal, and hands on the signals that
// reach itself alone: a container's engine sends them to its first process only.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "containers/stop_sequence.h"

namespace fathom::containers {

struct StepLimit {
  std::int64_t after_ns = 0;  // 0: never; then SIGINT, SIGTERM, SIGKILL
  std::int64_t grace_ns = 0;  // between them
};

struct StepEnd {
  int status = 0;  // 128 + N by signal N
  bool timed_out = false;
};

// One for a process, whose signals it blocks and takes. Steps are waited for; the helper is ended
// when this goes. One thread, since a child goes on with what it was forked with.
class InsideSteps {
 public:
  // From here on signals wait until a step runs. Once per process, before it has threads.
  InsideSteps();
  ~InsideSteps() { end_helper(); }
  InsideSteps(const InsideSteps&) = delete;
  InsideSteps& operator=(const InsideSteps&) = delete;

  // `work` gives the child's exit status; the child is `fathom run`, which hands signals on. After
  // a SIGTERM of the engine the application has `grace` until it is killed: the engine kills us
  // soon, and nothing would be written.
  Result<StepEnd> run_program(const std::function<int()>& work, const StepLimit& limit);
  // Signals do not end it.
  Status run_writer(const std::function<int()>& work);

  // A process beside the steps, which nobody waits for; it ends with us.
  Status begin_helper(const std::function<int()>& work);
  void end_helper();

  // Whether somebody asked us to end.
  [[nodiscard]] bool was_told_to_end() const { return told_to_end_; }

 private:
  Result<pid_t> start(const std::function<int()>& work, const sigset_t& mask);
  bool has_ended(pid_t child, StepEnd& end);
  void take_signal(const siginfo_t& info, pid_t child, StopSequence& stop);

  sigset_t taken_{};
  sigset_t original_{};
  bool told_to_end_ = false;
  pid_t helper_ = 0;  // 0: there is none
};

}  // namespace fathom::containers
