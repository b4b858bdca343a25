// SPDX-License-Identifier: MIT
#include "session/signal_queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace fathom::session {
namespace {

// In a process of its own: the queue takes the signals of a process for good.
bool holds(const std::function<bool(SignalQueue&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    Result<SignalQueue> queue = SignalQueue::open();
    _exit(queue && body(*queue) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(SignalQueueTest, WarningsDoNotTellToEnd) {
  EXPECT_TRUE(holds([](SignalQueue& queue) {
    if (queue.told_to_end()) return false;
    for (const int number : {SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGPIPE}) kill(getpid(), number);
    if (queue.told_to_end(1000)) return false;
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGHUP);
    return queue.told_to_end() && !queue.told_to_end();
  }));
}

// A loop that waits for the descriptor must not be woken for ever by what nobody reads.
TEST(SignalQueueTest, OnlyForwardedOnesAreLeftWaiting) {
  EXPECT_TRUE(holds([](SignalQueue& queue) {
    siginfo_t info;
    kill(getpid(), SIGCHLD);
    if (queue.has_forwarded() || queue.next(info)) return false;
    kill(getpid(), SIGCHLD);
    kill(getpid(), SIGTERM);
    if (!queue.has_forwarded()) return false;
    bool told = false;
    while (queue.next(info)) told |= info.si_signo == SIGTERM && info.si_pid == getpid();
    return told && !queue.has_forwarded();
  }));
}

}  // namespace
}  // namespace fathom::session
