// SPDX-License-Identifier: MIT
#include "session/group_witness.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <functional>
#include <vector>

#include "session/signal_policy.h"

namespace fathom::session {
namespace {

// In a process group of its own, with the signals blocked, as a recorder has them.
bool holds_in_own_group(const std::function<bool(GroupWitness&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    const sigset_t set = forwarded_signals();
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

// Reads what waits for this process, as the queue of a recorder does.
std::vector<int> take_own() {
  std::vector<int> taken;
  const sigset_t set = forwarded_signals();
  const timespec none{};
  for (int number = 0; (number = sigtimedwait(&set, nullptr, &none)) > 0;) taken.push_back(number);
  return taken;
}

using Numbers = std::vector<int>;

// `took` is what a question must find in this process's own queue.
Numbers ask(GroupWitness& witness, const Numbers& took, const std::function<void()>& then = {}) {
  Numbers own;
  Numbers group = witness.ask([&] {
    own = take_own();
    if (then) then();
  });
  return own == took ? group : Numbers{-1};
}

TEST(GroupWitness, TellsTheGroupsFromOurs) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    kill(getpid(), SIGTERM);
    if (!ask(witness, {SIGTERM}).empty()) return false;
    kill(0, SIGTERM);
    if (ask(witness, {SIGTERM}) != Numbers{SIGTERM}) return false;
    return ask(witness, {}).empty();
  }));
}

TEST(GroupWitness, SeesEverySignalThatIsForwarded) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    for (int number = 1; number <= SIGRTMAX; ++number) {
      if (!is_forwarded(number)) continue;
      kill(0, number);
      if (ask(witness, {number}) != Numbers{number}) return false;
    }
    return true;
  }));
}

// The second comes when the first was taken and nobody has asked for it yet.
TEST(GroupWitness, ASignalBehindItsLikeIsToldToo) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    const auto again = [] { kill(0, SIGTERM); };
    kill(0, SIGTERM);
    for (int turn = 0; turn < 20; ++turn) {
      if (ask(witness, {SIGTERM}, again) != Numbers{SIGTERM}) return false;
    }
    return ask(witness, {SIGTERM}) == Numbers{SIGTERM} && ask(witness, {}).empty();
  }));
}

TEST(GroupWitness, OneToUsAloneBehindOneToTheGroupIsOurs) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    kill(0, SIGTERM);
    if (ask(witness, {SIGTERM}, [] { kill(getpid(), SIGTERM); }) != Numbers{SIGTERM}) return false;
    return ask(witness, {SIGTERM}).empty();
  }));
}

// What a sentry gets while it waits for its turn is of no account later.
TEST(GroupWitness, NothingOldIsToldAgain) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    kill(0, SIGTERM);
    if (ask(witness, {SIGTERM}, [] { kill(0, SIGTERM); }) != Numbers{SIGTERM}) return false;
    while (ask(witness, {SIGTERM}) == Numbers{SIGTERM}) {
    }
    kill(getpid(), SIGTERM);
    return ask(witness, {SIGTERM}).empty();
  }));
}

TEST(GroupWitness, OthersDoNotHurtIt) {
  EXPECT_TRUE(holds_in_own_group([](GroupWitness& witness) {
    signal(SIGABRT, SIG_IGN);
    signal(SIGTRAP, SIG_IGN);
    kill(0, SIGABRT);
    kill(0, SIGTRAP);
    if (!ask(witness, {}).empty()) return false;
    kill(0, SIGINT);
    return ask(witness, {SIGINT}) == Numbers{SIGINT};
  }));
}

TEST(GroupWitness, KnowsNothingBeforeItsStartAndAfterItsEnd) {
  GroupWitness witness;
  int taken = 0;
  const auto take = [&] { ++taken; };
  EXPECT_TRUE(witness.ask(take).empty());
  witness.start();
  witness.stop();
  EXPECT_TRUE(witness.ask(take).empty());
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace fathom::session
