// SPDX-License-Identifier: MIT
// A process that somebody else started, held so that its number cannot become another's unnoticed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace fathom::session {

// Owns a pidfd. What the process is asked later may fail, since it may end at any time: then there
// is nothing, and no Error.
class RunningProcess {
 public:
  // kNotFound: there is none, or it has ended and waits for its parent; kInvalid: a thread, or
  // ourselves.
  static Result<RunningProcess> open(pid_t pid);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool has_ended() const;
  // Words of its command line; its name where it has none, or hides it.
  [[nodiscard]] std::vector<std::string> command() const;
  // NAME=VALUE, as it was started with; none where it hides them.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  RunningProcess(pid_t pid, Fd handle) : pid_(pid), handle_(std::move(handle)) {}
  [[nodiscard]] std::string read(const char* name) const;

  pid_t pid_;
  Fd handle_;
};

}  // namespace fathom::session
