// SPDX-License-Identifier: MIT
// While one exists, no signal handler runs in this thread: for the few steps of slow paths that a
// handler must not see half done, nor leave by longjmp or fork. Faults of our own are not held
// back. In a confined process it does nothing: a handler that comes then writes through a cursor of
// its own, as ever; only one that forks in the midst of such a step finds it half done.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "guest/syscalls.h"

namespace fathom::guest {

// For the thread that makes it; nests, since each gives back the mask that it found.
class Quiet {
 public:
  // The mask is on the stack: a constant would lie in a page that a short program needs for nothing
  // else.
  Quiet() {
    const uint64_t all = ~kFaults;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&all), as_long(&before_), 8);
  }
  ~Quiet() { raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&before_), 0, 8); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  static constexpr uint64_t kFaults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) |
                                      UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGFPE - 1) |
                                      UINT64_C(1) << (SIGTRAP - 1);

  uint64_t before_ = 0;
};

}  // namespace fathom::guest
