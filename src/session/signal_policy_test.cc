// SPDX-License-Identifier: MIT
#include "session/signal_policy.h"

#include <gtest/gtest.h>

#include <csignal>

namespace fathom::session {
namespace {

TEST(SignalPolicy, ForwardsWhatTheProgramHasNotGot) {
  constexpr pid_t kProgram = 100;
  constexpr pid_t kSelf = 50;
  struct Case {
    const char* name;
    ReceivedSignal signal;
    bool forward;
  };
  const Case cases[] = {
      {"kill of the recorder", {SIGTERM, SI_USER, 7}, true},
      {"by another user namespace", {SIGINT, SI_USER, 0}, true},
      {"tgkill", {SIGHUP, SI_TKILL, 7}, true},
      {"sigqueue", {SIGQUIT, SI_QUEUE, 7}, true},
      {"Ctrl-C at the terminal", {SIGINT, SI_KERNEL, 0}, false},
      {"hang-up of the terminal", {SIGHUP, SI_KERNEL, 0}, false},
      {"the program signals its group", {SIGTERM, SI_USER, kProgram}, false},
      {"our own", {SIGTERM, SI_USER, kSelf}, false},
      {"kill of the whole group", {SIGTERM, SI_USER, 7, true}, false},
      {"a batch system's warning", {SIGUSR1, SI_USER, 7}, true},
      {"a child changed state", {SIGCHLD, CLD_EXITED, kProgram}, false},
      {"a profiler's tick", {SIGPROF, SI_USER, 7}, true},
      {"a real-time signal", {SIGRTMIN + 3, SI_QUEUE, 7}, true},
      {"a pipe that somebody means", {SIGPIPE, SI_USER, 7}, true},
      {"a pipe that we wrote to", {SIGPIPE, SI_USER, kSelf}, false},
      {"a file that we wrote", {SIGXFSZ, SI_USER, kSelf}, false},
      {"a window that changed", {SIGWINCH, SI_KERNEL, 0}, false},
      {"Ctrl-Z at the terminal", {SIGTSTP, SI_KERNEL, 0}, false},
      {"a stop of the recorder", {SIGTSTP, SI_USER, 7}, true},
      {"a fault of ours", {SIGSEGV, SI_USER, 7}, false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(should_forward(c.signal, kProgram, kSelf), c.forward) << c.name;
}

TEST(SignalPolicy, WarningsEndNoRecorder) {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU})
    EXPECT_TRUE(asks_to_end(number)) << number;
  for (const int number : {SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGPIPE, SIGPROF, SIGRTMIN, SIGCONT})
    EXPECT_FALSE(asks_to_end(number)) << number;
}

TEST(SignalPolicy, ExitStatusIsAsAShellSays) {
  EXPECT_EQ(exit_status_of(CLD_EXITED, 0), 0);
  EXPECT_EQ(exit_status_of(CLD_EXITED, 255), 255);
  EXPECT_EQ(exit_status_of(CLD_KILLED, SIGKILL), 137);
  EXPECT_EQ(exit_status_of(CLD_DUMPED, SIGSEGV), 139);
}

}  // namespace
}  // namespace fathom::session
