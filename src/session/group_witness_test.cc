// SPDX-License-Identifier: MIT
#include "session/group_witness.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace fathom::session {
namespace {

// In a process group of its own, with the signals blocked, as a recorder has them.
bool holds_in_own_group(const std::function<bool(GroupWitness&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    sigset_t set;
    sigemptyset(&set);
    for (const int number : kForwardedSignals) sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    bool held = false;
    {
      GroupWitness witness;
      witness.start();
      held = body(witness);
    }
    // It leaves no process behind.
    _exit(held && waitpid(-1, nullptr, WNOHANG) < 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool saw(const std::vector<ReceivedSignal>& signals, int number, pid_t sender) {
  return signals.size() == 1 && signals[0].number == number && signals[0].sender == sender;
}

TEST(GroupWitness, TellsTheGroupsFromOurs) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    kill(getpid(), SIGTERM);
    if (!witness.ask().empty()) return false;
    kill(0, SIGTERM);
    if (!saw(witness.ask(), SIGTERM, getpid())) return false;
    return witness.ask().empty();
  }));
}

TEST(GroupWitness, SeesEverySignalThatIsForwarded) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    for (const int number : kForwardedSignals) {
      kill(0, number);
      if (!saw(witness.ask(), number, getpid())) return false;
    }
    return true;
  }));
}

TEST(GroupWitness, OthersDoNotHurtIt) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    signal(SIGTSTP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    kill(0, SIGTSTP);
    kill(0, SIGPIPE);
    if (!witness.ask().empty()) return false;
    kill(0, SIGINT);
    return saw(witness.ask(), SIGINT, getpid());
  }));
}

TEST(GroupWitness, KnowsNothingBeforeItsStartAndAfterItsEnd) {
  GroupWitness witness;
  EXPECT_TRUE(witness.ask().empty());
  witness.start();
  witness.stop();
  EXPECT_TRUE(witness.ask().empty());
}

}  // namespace
}  // namespace fathom::session
