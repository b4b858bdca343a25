// SPDX-License-Identifier: MIT
// Tells a signal that was sent to our whole process group from one that was sent to us alone: the
// siginfo of both is the same. A process of ours in the same group, which does nothing else, gets
// the first kind too. The kernel signals a group as one step under its lock of all tasks, so the
// answer does not depend on who runs first (group_witness.cc).
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/files.h"
#include "session/signal_policy.h"

namespace fathom::session {

// One per process, one thread.
class GroupWitness {
 public:
  GroupWitness() = default;
  GroupWitness(GroupWitness&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), line_(std::move(other.line_)) {}
  GroupWitness& operator=(GroupWitness&& other) = delete;
  ~GroupWitness() { stop(); }

  // Signals that come from now on are told apart. Where no process can be made, ask() gives none.
  void start();
  void stop();

  // The signals (number and sender) that this process's group got since the last question. All of
  // them are in the queue of this process's own signals too, when this returns.
  std::vector<ReceivedSignal> ask();

 private:
  pid_t pid_ = 0;
  Fd line_;
};

}  // namespace fathom::session
