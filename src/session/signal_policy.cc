// SPDX-License-Identifier: MIT
// Pure decisions, so that they can be tested without signals. A signal that the kernel or the
// program itself sent is never forwarded.
#include "session/signal_policy.h"

#include <algorithm>
#include <csignal>
#include <iterator>

namespace fathom::session {

sigset_t forwarded_signals() {
  sigset_t set;
  sigfillset(&set);  // without those that libc keeps for itself
  for (const int own :
       {SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    sigdelset(&set, own);
  return set;
}

bool is_forwarded(int number) {
  const sigset_t set = forwarded_signals();
  return sigismember(&set, number) == 1;
}

bool asks_to_stop(int number) {
  return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
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
