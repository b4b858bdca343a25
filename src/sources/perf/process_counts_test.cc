// SPDX-License-Identifier: MIT
#include "sources/perf/process_counts.h"

#include <gtest/gtest.h>

namespace fathom::sources {
namespace {

constexpr std::uint32_t kRoot = 10;

// One event on two CPUs, unless a test says otherwise.
class ProcessCountsTest : public ::testing::Test {
 protected:
  ProcessCountsTest() { counts_.began(kRoot); }

  void fork(std::uint32_t parent, std::uint32_t pid, std::uint32_t tid) {
    counts_.take(perf::Task{pid, parent, tid, parent, 0, false}, 0);
  }
  void end(std::uint32_t pid, std::uint32_t tid, std::int64_t ts) {
    counts_.take(perf::Task{pid, 1, tid, 1, 0, true}, ts);
  }
  void tell(std::uint32_t pid, std::uint32_t tid, std::uint64_t first, std::uint64_t second) {
    counts_.take(perf::Tally{pid, tid, first, 100, 100}, 0, 0);
    counts_.take(perf::Tally{pid, tid, second, 100, 100}, 0, 1);
  }
  static std::vector<Counted> totals(double first, double second) {
    return {{first, 100, 100}, {second, 100, 100}};
  }

  ProcessCounts counts_{1, 2};
};

TEST_F(ProcessCountsTest, AProcessHasTheSumOfItsThreads) {
  fork(kRoot, 20, 20);
  fork(20, 20, 21);
  tell(20, 21, 1, 2);
  end(20, 21, 5);
  EXPECT_TRUE(counts_.take_rows().empty());  // another thread lives
  end(20, 20, 7);
  EXPECT_TRUE(counts_.take_rows().empty());  // and has not told yet
  tell(20, 20, 30, 40);
  const std::vector<CountRow> rows = counts_.take_rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].pid, 20);
  EXPECT_EQ(rows[0].ts, 7);
  EXPECT_EQ(rows[0].value, 73);
}

// One thread never tells: what is left of the totals is its.
TEST_F(ProcessCountsTest, WhatNobodyToldBelongsToTheOneThatDidNot) {
  fork(kRoot, 20, 20);
  tell(20, 20, 3, 4);
  end(20, 20, 5);
  end(kRoot, kRoot, 9);
  EXPECT_EQ(counts_.take_rows().size(), 1U);
  const std::vector<CountRow> rows = counts_.stop(totals(103, 204));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].pid, static_cast<std::int32_t>(kRoot));
  EXPECT_EQ(rows[0].ts, 9);
  EXPECT_EQ(rows[0].value, 300);
}

// Counters are exchanged between threads: on each CPU another one may be silent.
TEST_F(ProcessCountsTest, EachCpuHasASilentThreadOfItsOwn) {
  fork(kRoot, 20, 20);
  counts_.take(perf::Tally{20, 20, 3, 100, 100}, 0, 0);
  end(20, 20, 5);
  counts_.take(perf::Tally{kRoot, kRoot, 8, 100, 100}, 0, 1);
  end(kRoot, kRoot, 9);
  EXPECT_TRUE(counts_.take_rows().empty());
  std::map<std::int32_t, double> last;
  for (const CountRow& row : counts_.stop(totals(10, 20))) last[row.pid] = row.value;
  EXPECT_EQ(last[kRoot], 7 + 8);
  EXPECT_EQ(last[20], 3 + 12);
}

// Whatever happens to the counters, the sum of all processes is what was counted.
TEST_F(ProcessCountsTest, WhatIsLeftOverIsTheProgramsOwn) {
  tell(kRoot, kRoot, 3, 4);
  end(kRoot, kRoot, 9);
  EXPECT_TRUE(counts_.take_rows().empty());
  EXPECT_EQ(counts_.stop(totals(10, 20)).at(0).value, 30);
}

TEST_F(ProcessCountsTest, CountsGrowAndAreToldWhenTheyDo) {
  counts_.seen(kRoot, 0, 5, 1);
  counts_.seen(kRoot, 0, 5, 2);
  counts_.seen(kRoot, 0, 9, 3);
  counts_.seen(99, 0, 9, 3);  // nobody
  const std::vector<CountRow> rows = counts_.take_rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].ts, 3);
  EXPECT_EQ(rows[1].value, 9);
}

// What goes on after the program has its part of what nobody told.
TEST_F(ProcessCountsTest, WhoeverLivesKeepsWhatWasSeen) {
  fork(kRoot, 20, 20);
  counts_.seen(20, 0, 50, 1);
  end(kRoot, kRoot, 9);
  std::map<std::int32_t, double> last;
  for (const CountRow& row : counts_.stop(totals(60, 90))) last[row.pid] = row.value;
  EXPECT_EQ(last[kRoot], 100);
  EXPECT_EQ(last[20], 50);
}

TEST_F(ProcessCountsTest, CountersThatWereSharedAreScaled) {
  fork(kRoot, 20, 20);
  counts_.take(perf::Tally{20, 20, 100, 1000, 300}, 0, 0);
  counts_.take(perf::Tally{20, 20, 50, 1000, 200}, 0, 1);
  end(20, 20, 5);
  EXPECT_EQ(counts_.take_rows().at(0).value, 300);
}

TEST_F(ProcessCountsTest, ANumberThatIsUsedAgainIsAnother) {
  fork(kRoot, 20, 20);
  const std::vector<Living> before = counts_.alive();
  tell(20, 20, 1, 1);
  end(20, 20, 5);
  fork(kRoot, 20, 20);
  EXPECT_NE(counts_.alive(), before);
  const std::vector<CountRow> rows = counts_.take_rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].value, 2);
}

}  // namespace
}  // namespace fathom::sources
