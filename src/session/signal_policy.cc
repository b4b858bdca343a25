// SPDX-License-Identifier: MIT
// Pure decisions, so that they can be tested without signals. A signal that the kernel or the
// program itself sent is never forwarded.
#include "session/signal_policy.h"

#include <algorithm>
#include <csignal>
#include <iterator>

namespace fathom::session {

bool is_forwarded(int number) {
  return std::ranges::find(kForwardedSignals, number) != std::end(kForwardedSignals);
}

bool asks_to_end(int number) {
  constexpr int kEnding[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
  return std::ranges::find(kEnding, number) != std::end(kEnding);
}

bool should_forward(const ReceivedSignal& signal, pid_t program, pid_t self) {
  const bool from_a_process =
      signal.code <= 0;  // SI_USER, SI_TKILL, SI_QUEUE; the kernel's own are above
  return is_forwarded(signal.number) && from_a_process && !signal.to_group &&
         signal.sender != program && signal.sender != self;
}

int exit_status_of(int code, int status) { return code == CLD_EXITED ? status : 128 + status; }

}  // namespace fathom::session
