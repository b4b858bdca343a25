// SPDX-License-Identifier: MIT
#include "session/watch/watch_state.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/host.h"

namespace fathom::session {
namespace {

TEST(WatchState, ComesBackAsItWas) {
  const WatchState state{"b-o-o-t", 17, {{1, 2}, {300, 400}}};
  const std::string text = format_watch_state(state);
  const Result<WatchState> read = parse_watch_state(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->boot, "b-o-o-t");
  EXPECT_EQ(read->alive_ns, 17);
  EXPECT_EQ(read->processes, state.processes);
}

TEST(WatchState, DamageIsSeen) {
  for (const char* text :
       {"", "x", "fathom-watch 1\n", "fathom-watch 2\nboot b\nalive 1\n",
        "fathom-watch 1\nboot b\nalive soon\n", "fathom-watch 1\nboot b\nalive 1\n5\n",
        "fathom-watch 1\nboot b\nalive 1\n5 6 7\n", "fathom-watch 1\nboot b\nalive 1\n-5 6\n",
        "fathom-watch 1\nboot b\nalive 1\n5 6"})
    EXPECT_FALSE(parse_watch_state(text)) << text;
  EXPECT_TRUE(parse_watch_state("fathom-watch 1\nboot b\nalive 1\n"));
}

TEST(WatchState, FieldsOfAProcess) {
  const std::string stat = "7 (a) b) S 3 7 7 0 -1 0 1 2 3 4 5 6 7 8 9 10 11 12 4242 14 15";
  EXPECT_EQ(parent_in_stat(stat), 3);
  EXPECT_EQ(start_in_stat(stat), 4242);
  EXPECT_FALSE(start_in_stat("7 (a) S 3"));
  EXPECT_FALSE(parent_in_stat(""));
}

TEST(WatchState, SurvivorsAreTheSameProcessesAndTheirChildren) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const std::int64_t started = start_of(getpid()).value_or(0);
  const std::string boot = this_host().boot_id;
  const std::vector<pid_t> found = survivors({boot, 0, {{getpid(), started}}});
  EXPECT_TRUE(std::ranges::find(found, getpid()) != found.end());
  EXPECT_TRUE(std::ranges::find(found, child) != found.end());
  EXPECT_TRUE(survivors({boot, 0, {{getpid(), started + 1}}}).empty());
  EXPECT_TRUE(survivors({"another", 0, {{getpid(), started}}}).empty());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(WatchState, TheRollKnowsWhoWasThere) {
  Roll roll;
  const sources::Followed self{getpid(), 7};
  const sources::Followed nobody{0x7ffffff0, 7};
  const KnownProcess known{getpid(), start_of(getpid()).value_or(0)};
  for (int i = 0; i < 2; ++i) {
    const WatchState state = roll.call({self, nobody});
    EXPECT_EQ(state.boot, this_host().boot_id);
    EXPECT_EQ(state.processes, std::vector<KnownProcess>{known});
  }
  EXPECT_TRUE(roll.call({}).processes.empty());
  EXPECT_EQ(roll.call({self}).processes, std::vector<KnownProcess>{known});
}

}  // namespace
}  // namespace fathom::session
