// SPDX-License-Identifier: MIT
// What `fathom run` does with a signal that it gets while the program runs. Pure decisions;
// program.h acts on them.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace fathom::session {

// The signals that a user or a batch system sends to end or to tell something: they are the
// program's.
inline constexpr int kForwardedSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,
                                            SIGUSR2, SIGALRM, SIGTERM, SIGXCPU};

struct ReceivedSignal {
  int number = 0;
  int code = 0;           // si_code: SI_KERNEL for those of the terminal
  pid_t sender = 0;       // for those of processes
  bool to_group = false;  // our whole process group got it, not we alone
};

[[nodiscard]] bool is_forwarded(int number);  // one of kForwardedSignals

// Whether it asks a recorder that has no program to forward to to end. The others of
// kForwardedSignals warn or tell something: a batch system's SIGUSR1 costs no records.
[[nodiscard]] bool asks_to_end(int number);

// Whether the program must still be told. One that the terminal or a process sent to our process
// group reached it by itself (or does not concern it: it has left the group), and one that the
// program itself sent is known to it.
[[nodiscard]] bool should_forward(const ReceivedSignal& signal, pid_t program, pid_t self);

// 128 + N for signal N, else the program's own status. `code` and `status` as in siginfo_t of
// SIGCHLD.
[[nodiscard]] int exit_status_of(int code, int status);

}  // namespace fathom::session
