// SPDX-License-Identifier: MIT
// The program that is recorded, as a child that notices nothing: same process group and terminal,
// same streams, limits, signal mask and dispositions as if its caller had started it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/signal_queue.h"

namespace fathom::session {

// The file that a shell would run for this word. kNotFound (a shell's 127) or kDenied (126).
Result<std::string> find_program(const std::string& word);
// Likewise of a shell in another folder with another PATH.
Result<std::string> find_program(const std::string& word, const std::string& path,
                                 const std::string& folder);

// 127 or 126 for an error of find_program or start_program.
[[nodiscard]] int shell_status(const Error& error);

// A program that is about to be started; its path was found (find_program).
struct ProgramSpec {
  std::string path;                      // as find_program gave it
  std::vector<std::string> words;        // argv
  std::vector<std::string> environment;  // NAME=value
};

// Returns when the program has begun (exec succeeded). `before` is called with the child that waits
// to become the program; where it fails, there is no program. Call before any thread is started.
Result<pid_t> start_program(const ProgramSpec& spec, SignalQueue& signals,
                            const std::function<Status(pid_t)>& before = {});

// Waits for the program's end, forwards what is meant for it, and stops and goes on with it under a
// terminal's job control. `tick` is called now and then. On return the program has ended and is not
// reaped; gives when that was seen, by the monotonic clock.
std::int64_t supervise(pid_t program, SignalQueue& signals, const std::function<void()>& tick);

// How a program ended.
struct Ending {
  int status = 0;     // its own, or 128 + N by signal N
  int signal = 0;     // N; 0: none
  rusage usage = {};  // of it and of all descendants that were waited for
};
// Takes the ended program's status.
Ending reap(pid_t program);
// Ends this process by a signal, without a core dump. Returns where that cannot be.
void end_by(int signal);

}  // namespace fathom::session
