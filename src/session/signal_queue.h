// SPDX-License-Identifier: MIT
// The signals of a process that looks after others, read one by one in place of being delivered.
// Whoever waits for a program, a run or a daemon's requests waits for them beside.
#pragma once

#include <csignal>

#include "base/files.h"
#include "base/result.h"
#include "session/group_witness.h"

namespace fathom::session {

// Takes the signals that concern a supervisor out of ordinary delivery, for all threads that are
// started later. One per process. A program started by start_program gets back what was before.
class SignalQueue {
 public:
  static Result<SignalQueue> open();

  [[nodiscard]] int fd() const { return fd_.get(); }
  // The next signal that waits; false when there is none.
  bool next(siginfo_t& info);
  // Whether one of forwarded_signals() waits. Others that wait are dropped if none does.
  [[nodiscard]] bool has_forwarded();
  // Whether any signal that was read so far asked us to end (asks_to_end).
  [[nodiscard]] bool was_told_to_end() const { return told_to_end_; }
  // Waits until a signal comes, for this time at most, and reads all: whether one of them asks us
  // to end (asks_to_end). One that asks us to stop does so.
  bool told_to_end(int wait_ms = 0);
  // Reads all that wait, and leaves a wish to end at that: it was meant for somebody who is gone
  // now. One that asks us to stop does so all the same.
  void drop_waiting() { told_to_end(); }
  // Stops us as this signal stops anybody, until somebody goes on with us: that SIGCONT waits here
  // then. A group that no shell looks after is not stopped.
  static void stop_by(int number);
  // Tells signals to our process group from those to us alone, once it is started.
  GroupWitness& witness() { return witness_; }
  // In the child, before exec: mask and dispositions as they were.
  void restore_in_child() const;
  // From now on such signals end us as they end anybody. Those that wait are dropped: they came
  // before.
  void release();

 private:
  explicit SignalQueue(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
  sigset_t original_mask_{};
  struct sigaction original_child_ {};
  GroupWitness witness_;
  bool told_to_end_ = false;
};

}  // namespace fathom::session
