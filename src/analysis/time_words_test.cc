// SPDX-License-Identifier: MIT
#include "analysis/time_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Value> row(const char* state, const char* cause, const char* name, std::int64_t ns,
                       double share) {
  return {std::string(state), std::string(cause), std::string(name), ns, share};
}

TEST(TimeWords, NothingWithoutAnAccount) { EXPECT_THAT(time_words({}, true), IsEmpty()); }

TEST(TimeWords, TellOfTheWholeThenOfItsLongestParts) {
  Table time;
  time.rows = {row("running", "function", "row", 500'000'000, 50),
               row("waiting", "sleep", "nanosleep", 300'000'000, 30),
               row("running", "function", "swim", 90'000'000, 9),
               row("running", "function", "dive", 60'000'000, 6),
               row("running", "function", "float", 30'000'000, 3),
               row("waiting", "pipe", "read", 5'000'000, 0.5),
               row("ready", "run queue", "waits for a CPU", 5'000'000, 0.5),
               row("unexplained", "", "", 10'000'000, 1)};
  EXPECT_THAT(time_words(time, false),
              ElementsAre("The threads ran on a CPU for 68.0 % of their time and waited for 30.5 "
                          "%; 1.0 % is unexplained.",
                          "Most CPU time: row 500 ms (50.0 %), swim 90.0 ms (9.0 %), dive 60.0 ms "
                          "(6.0 %).",
                          "Longest waits: sleep in nanosleep 300 ms (30.0 %)."));
}

Table mostly_ready() {
  Table time;
  time.rows = {row("ready", "run queue", "waits for a CPU", 90, 90),
               row("running", "function", "row", 10, 10), row("unexplained", "", "", 0, 0)};
  return time;
}

TEST(TimeWords, SayWhenThereWereTooFewCpus) {
  EXPECT_THAT(time_words(mostly_ready(), false),
              ElementsAre("The threads ran on a CPU for 10.0 % of their time and waited for 0.0 %; "
                          "for 90.0 % they could have run, but had no CPU.",
                          "Most CPU time: row 10 ns (10.0 %)."));
}

TEST(TimeWords, OneThreadIsOne) {
  EXPECT_THAT(time_words(mostly_ready(), true),
              ElementsAre("The thread ran on a CPU for 10.0 % of its time and waited for 0.0 %; "
                          "for 90.0 % it could have run, but had no CPU.",
                          "Most CPU time: row 10 ns (10.0 %)."));
}

TEST(TimeWords, ACauseIsSaidOnce) {
  Table time;
  time.rows = {row("waiting", "page fault", "page fault in main", 50, 50),
               row("waiting", "sleep", "sleepy", 30, 30), row("waiting", "lock", "", 20, 20)};
  EXPECT_EQ(time_words(time, true).back(),
            "Longest waits: page fault in main 50 ns (50.0 %), sleep in sleepy 30 ns (30.0 %), "
            "lock 20 ns (20.0 %).");
}

}  // namespace
}  // namespace fathom::analysis
