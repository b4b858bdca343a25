// SPDX-License-Identifier: MIT
// What `fathom run` does with a signal that it gets while the program runs. Pure decisions;
// program.h acts on them.
#pragma once

#include <sys/types.h>

namespace fathom::session {

// The signals that a user or a batch system sends to end or to tell something: they are the
// program's.
inline constexpr int kForwardedSignals[] = {1 /*HUP*/, 2 /*INT*/, 3 /*QUIT*/, 15 /*TERM*/};

struct ReceivedSignal {
  int number = 0;
  int code = 0;      // si_code: SI_KERNEL for those of the terminal
  pid_t sender = 0;  // for those of processes
};

// Whether the program must still be told. One that the terminal sent reached its whole process
// group, and one that the program itself sent around is known to it.
[[nodiscard]] bool should_forward(const ReceivedSignal& signal, pid_t program, pid_t self);

// 128 + N for signal N, else the program's own status. `code` and `status` as in siginfo_t of
// SIGCHLD.
[[nodiscard]] int exit_status_of(int code, int status);

}  // namespace fathom::session
