// SPDX-License-Identifier: MIT
// Tells a signal that was sent to our whole process group from one that was sent to us alone: the
// siginfo of both is the same. A process of ours in the same group, which does nothing else, gets
// the first kind too. The kernel signals a group as one step under its lock of all tasks, so the
// answer does not depend on who runs first (group_witness.cc).
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.h"

namespace fathom::session {

// One per process, one thread.
class GroupWitness {
 public:
  GroupWitness() = default;
  GroupWitness(GroupWitness&& other) noexcept
      : on_duty_(std::move(other.on_duty_)),
        off_duty_(std::move(other.off_duty_)),
        started_(std::exchange(other.started_, false)) {}
  GroupWitness& operator=(GroupWitness&& other) = delete;
  ~GroupWitness() { stop(); }

  // Signals that come from now on are told apart. Where no process can be made, ask() gives none.
  void start();
  void stop();

  // Calls `take`, which reads all signals that wait for this process, and returns the numbers of
  // those that its group got since `take` was last called. Ask again until `take` finds nothing:
  // until then a signal that came within a few microseconds of the call may be told twice.
  std::vector<int> ask(const std::function<void()>& take);

 private:
  // A forked process that holds the signals that it gets.
  class Sentry {
   public:
    Sentry() = default;
    Sentry(Sentry&& other) noexcept
        : pid_(std::exchange(other.pid_, 0)), line_(std::move(other.line_)) {}
    Sentry& operator=(Sentry&& other) noexcept {
      pid_ = std::exchange(other.pid_, 0);
      line_ = std::move(other.line_);
      return *this;
    }
    ~Sentry() = default;  // stop() reaps it

    [[nodiscard]] bool start();
    void stop();
    [[nodiscard]] bool enter(pid_t group) const;
    [[nodiscard]] bool leave() const { return enter(pid_); }
    // What it got since the last time; none: it does not answer.
    std::optional<std::vector<int>> relieve();

   private:
    pid_t pid_ = 0;
    Fd line_;
  };

  Sentry on_duty_;   // in our group
  Sentry off_duty_;  // in a group of its own, to change places
  bool started_ = false;
};

}  // namespace fathom::session
