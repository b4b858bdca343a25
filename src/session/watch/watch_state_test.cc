// SPDX-License-Identifier: MIT
#include "session/watch/watch_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
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

// Nothing is written each second where nobody came or went; the file's time tells the same.
TEST(WatchState, IsTouchedWhereNobodyCameOrWent) {
  const std::string socket = ::testing::TempDir() + "touched.sock";
  const std::string path = socket + ".state";
  const auto facts_now = [&] {
    struct stat facts {};
    EXPECT_EQ(stat(path.c_str(), &facts), 0);
    return facts;
  };
  const sources::Followed self{getpid(), 7};
  Roll roll;
  ASSERT_TRUE(roll.save(socket, {self}));
  const struct stat first = facts_now();
  const timespec long_ago[] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  ASSERT_TRUE(roll.save(socket, {self}));
  EXPECT_EQ(facts_now().st_ino, first.st_ino);
  EXPECT_GE(facts_now().st_mtim.tv_sec, first.st_mtim.tv_sec);
  const timespec later[] = {{first.st_mtim.tv_sec + 100, 0}, {first.st_mtim.tv_sec + 100, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), later, 0), 0);
  const std::optional<WatchState> state = load_watch_state(socket);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->alive_ns, (first.st_mtim.tv_sec + 100) * 1'000'000'000);
  EXPECT_EQ(state->processes.size(), 1U);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_TRUE(roll.save(socket, {self}));  // somebody took it away
  ASSERT_TRUE(roll.save(socket, {}));
  EXPECT_TRUE(load_watch_state(socket)->processes.empty());
}

}  // namespace
}  // namespace fathom::session
