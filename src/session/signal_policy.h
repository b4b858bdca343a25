// SPDX-License-Identifier: MIT
// What `fathom run` does with a signal that it gets while the program runs. Pure decisions;
// program.h acts on them.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace fathom::session {

// The signals that are the program's: all that somebody can send and a process can catch, but for
// SIGCHLD and for faults (SIGSEGV and its like), which are our own.
[[nodiscard]] sigset_t forwarded_signals();

// What is known of a signal that came to the supervisor.
struct ReceivedSignal {
  int number = 0;
  int code = 0;           // si_code: SI_KERNEL for those of the terminal
  pid_t sender = 0;       // for those of processes
  bool to_group = false;  // our whole process group got it, not we alone
  sigval value{};         // with SI_QUEUE
};

[[nodiscard]] bool is_forwarded(int number);  // one of forwarded_signals()
[[nodiscard]] bool asks_to_stop(int number);  // as Ctrl-Z does

// Whether it asks a recorder that has no program to forward to to end. The others warn or tell
// something: a batch system's SIGUSR1 costs no records.
[[nodiscard]] bool asks_to_end(int number);

// Whether the program must still be told. One that the terminal or a process sent to our process
// group reached it by itself (or does not concern it: it has left the group), and one that the
// program itself sent is known to it.
[[nodiscard]] bool should_forward(const ReceivedSignal& signal, pid_t program, pid_t self);

// 128 + N for signal N, else the program's own status. `code` and `status` as in siginfo_t of
// SIGCHLD.
[[nodiscard]] int exit_status_of(int code, int status);

}  // namespace fathom::session
