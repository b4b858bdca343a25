// SPDX-License-Identifier: MIT
#include "session/signal_policy.h"

#include <csignal>

namespace fathom::session {

bool should_forward(const ReceivedSignal& signal, pid_t program, pid_t self) {
  for (const int number : kForwardedSignals) {
    if (signal.number != number) continue;
    const bool from_a_process =
        signal.code <= 0;  // SI_USER, SI_TKILL, SI_QUEUE; the kernel's own are above
    return from_a_process && signal.sender != program && signal.sender != self;
  }
  return false;
}

int exit_status_of(int code, int status) { return code == CLD_EXITED ? status : 128 + status; }

static_assert(SIGHUP == kForwardedSignals[0] && SIGINT == kForwardedSignals[1] &&
              SIGQUIT == kForwardedSignals[2] && SIGTERM == kForwardedSignals[3]);

}  // namespace fathom::session
