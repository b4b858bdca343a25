// SPDX-License-Identifier: MIT
// The time between two samples. It is over early when somebody says so, or when a process ends: a
// control group goes with its last process, and its last numbers are read before.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/files.h"

namespace fathom::sources {

// Owns its descriptors.
class Pause {
 public:
  Pause();

  // One thread.
  void rest(std::int64_t ns);
  // Its end ends a pause, once. A process that is not there any more is nobody's.
  void watch(pid_t process);
  [[nodiscard]] bool watches() const { return process_.valid(); }

  // From any thread: ends this pause, or the next one.
  void end();

 private:
  Fd wake_;
  Fd process_;
};

}  // namespace fathom::sources
