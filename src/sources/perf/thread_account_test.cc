// SPDX-License-Identifier: MIT
#include "sources/perf/thread_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fathom::sources {
namespace {

using trace::kNull;
using trace::SampleRow;

constexpr std::uint32_t kOn = 1;
constexpr std::uint32_t kOff = 2;
constexpr ThreadId kMain{10, 10};

std::int64_t sum(const std::vector<SampleRow>& rows, std::uint32_t event) {
  std::int64_t total = 0;
  for (const SampleRow& row : rows) total += row.event == event ? row.weight : 0;
  return total;
}

TEST(ThreadAccount, SamplesStandForTheTimeThatTheThreadRan) {
  ThreadAccount account(kOn, kOff);
  account.running(kMain, 100);
  account.sampled(kMain, 110, 0, 7);
  account.switched_out(kMain, 120, false);
  account.switched_in(kMain, 150);
  account.sampled(kMain, 160, 1, 8);
  account.ended(kMain, 163);
  const std::vector<SampleRow> rows = account.take_samples();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].event, kOff);
  EXPECT_EQ(rows[0].ts, 120);
  EXPECT_EQ(rows[0].weight, 30);
  EXPECT_EQ(rows[0].stack, 7) << "nobody told where it left from: where it was seen last";
  EXPECT_EQ(rows[0].ready, kNull);
  EXPECT_EQ(rows[1].weight, 10);
  EXPECT_EQ(rows[1].stack, 7);
  EXPECT_EQ(rows[2].weight, 10 + 10 + 3) << "before the sample, and the rest of its life";
  EXPECT_EQ(rows[2].cpu, 1);
}

TEST(ThreadAccount, AStretchHasTheStackThatItWasLeftFrom) {
  ThreadAccount account(kOn, kOff);
  account.running(kMain, 0);
  account.sampled(kMain, 10, 0, 7);
  account.leaves_from(kMain, 20, 9);
  account.switched_out(kMain, 20, false);
  account.switched_in(kMain, 50);
  account.leaves_from(kMain, 60, kNull);
  account.switched_out(kMain, 60, false);
  account.stop(70);
  const std::vector<SampleRow> rows = account.take_samples();
  EXPECT_EQ(rows.at(0).stack, 9);
  EXPECT_EQ(rows.at(1).stack, 9) << "the one before: nobody could read this one";
}

TEST(ThreadAccount, AWaitThatNobodyAskedAboutIsWhereTheOneBeforeWas) {
  ThreadAccount account(kOn, kOff);
  account.running(kMain, 0);
  account.sampled(kMain, 10, 0, 7);
  account.leaves_from(kMain, 20, 9);
  account.switched_out(kMain, 20, false);
  account.switched_in(kMain, 50);
  account.sampled(kMain, 55, 0, 7);
  account.switched_out(kMain, 60, false);
  account.switched_in(kMain, 70);
  account.switched_out(kMain, 80, true);
  account.stop(90);
  const std::vector<SampleRow> rows = account.take_samples();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[2].weight, 10);
  EXPECT_EQ(rows[2].stack, 9);
  EXPECT_EQ(rows[3].stack, 7) << "pushed off while it ran";
  EXPECT_EQ(account.take_untold(), 1U);
}

TEST(ThreadAccount, TheKernelsTimeToTakeTheStackIsNotTheThreads) {
  ThreadAccount account(kOn, kOff);
  account.running(kMain, 0);
  account.leaves_from(kMain, 17, 9);
  account.switched_out(kMain, 20, false);
  account.switched_in(kMain, 50);
  account.switched_out(kMain, 60, false);  // no stack was taken this time
  account.ended(kMain, 70);
  const std::vector<SampleRow> rows = account.take_samples();
  EXPECT_EQ(sum(rows, kOn), 17 + 10);
  EXPECT_EQ(sum(rows, kOff), 33 + 10);
}

TEST(ThreadAccount, WhoIsPushedOffIsReady) {
  ThreadAccount account(kOn, kOff);
  account.forked(kMain, 100);
  account.switched_in(kMain, 105);
  account.switched_out(kMain, 110, true);
  account.switched_in(kMain, 130);
  account.switched_out(kMain, 140, false);
  account.switched_in(kMain, 190);
  account.ended(kMain, 200);
  const std::vector<SampleRow> rows = account.take_samples();
  EXPECT_EQ(rows.at(0).ready, 5) << "a thread that was made waits for a CPU";
  EXPECT_EQ(rows.at(1).ready, 20);
  EXPECT_EQ(rows.at(2).ready, kNull);
  EXPECT_EQ(account.take_threads().back().ready, 25);
}

TEST(ThreadAccount, TheKernelKnowsMoreOfBeingReady) {
  ThreadAccount account(kOn, kOff);
  account.forked(kMain, 0);
  account.switched_in(kMain, 0);
  account.switched_out(kMain, 10, true);
  account.switched_in(kMain, 20);
  account.ready(kMain, 35);  // it was woken, and had to wait for 25
  account.switched_out(kMain, 40, true);
  account.switched_in(kMain, 43);
  account.ended(kMain, 50);
  EXPECT_EQ(account.take_threads().back().ready, 38);
}

TEST(ThreadAccount, WhatTheKernelCountedBeforeIsNotTheThreads) {
  ThreadAccount account(kOn, kOff);
  account.running(kMain, 0);  // it was forked long ago, and had to wait for 500
  account.switched_out(kMain, 10, true);
  account.switched_in(kMain, 20);
  account.ready(kMain, 510);
  account.switched_out(kMain, 30, false);
  account.switched_in(kMain, 60);
  account.ready(kMain, 517);  // it was woken 7 before it ran
  account.ended(kMain, 70);
  EXPECT_EQ(account.take_threads().back().ready, 17);
}

TEST(ThreadAccount, AThreadThatNoSampleMetHasItsTime) {
  ThreadAccount account(kOn, kOff);
  account.forked(kMain, 0);
  account.switched_in(kMain, 2);
  account.ended(kMain, 9);
  const std::vector<SampleRow> rows = account.take_samples();
  EXPECT_EQ(sum(rows, kOff), 2);
  EXPECT_EQ(sum(rows, kOn), 7);
  EXPECT_EQ(rows.back().stack, kNull);
}

TEST(ThreadAccount, WhoWasFoundTellsByTheNextRecordWhereItWas) {
  ThreadAccount asleep(kOn, kOff);
  asleep.found(kMain, 5);
  asleep.switched_in(kMain, 30);
  asleep.stop(31);
  EXPECT_EQ(sum(asleep.take_samples(), kOff), 25);
  ThreadAccount awake(kOn, kOff);
  awake.found(kMain, 5);
  awake.switched_out(kMain, 30, false);
  awake.stop(31);
  const std::vector<SampleRow> rows = awake.take_samples();
  EXPECT_EQ(sum(rows, kOn), 25);
  EXPECT_EQ(sum(rows, kOff), 1);
}

TEST(ThreadAccount, ANumberThatIsUsedAgainIsAnotherThread) {
  ThreadAccount account(kOn, kOff);
  account.forked(kMain, 0);
  account.switched_in(kMain, 1);
  account.forked(kMain, 50);  // its end was lost
  account.switched_in(kMain, 60);
  account.ended(kMain, 70);
  const std::vector<trace::ThreadRow> threads = account.take_threads();
  ASSERT_EQ(threads.size(), 4U);
  EXPECT_EQ(threads[1].end, 50);
  EXPECT_EQ(threads[3].start, 50);
  EXPECT_EQ(threads[3].end, 70);
}

// Whatever comes in whatever order, records lost included: what is told is the thread's life.
TEST(ThreadAccount, RowsAddUpToLives) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; round++) {
    ThreadAccount account(kOn, kOff);
    std::int64_t ts = 0;
    const auto step = [&] { return ts += static_cast<std::int64_t>(random() % 50); };
    account.forked(kMain, step());
    const std::int64_t start = ts;
    for (auto i = random() % 20; i > 0; i--) {
      switch (random() % 4) {
        case 0:
          account.switched_in(kMain, step());
          break;
        case 1:
          account.switched_out(kMain, step(), random() % 2 == 0);
          break;
        case 2:
          account.sampled(kMain, step(), 0, 3);
          break;
        default:
          account.leaves_from(kMain, ts, 4);
          break;
      }
    }
    account.ended(kMain, step());
    const std::vector<SampleRow> rows = account.take_samples();
    ASSERT_EQ(sum(rows, kOn) + sum(rows, kOff), ts - start) << "round " << round;
    ASSERT_TRUE(std::ranges::all_of(rows, [](const SampleRow& row) { return row.weight >= 0; }));
  }
}

TEST(ThreadAccount, AThreadThatSleptWhenItWasFoundHasSleptAllTheTime) {
  ThreadAccount account(kOn, kOff);
  account.found(kMain, 100);
  account.asleep(kMain, 5);
  account.stop(160);
  const std::vector<SampleRow> rows = account.take_samples();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].event, kOff);
  EXPECT_EQ(rows[0].ts, 100);
  EXPECT_EQ(rows[0].weight, 60);
  EXPECT_EQ(rows[0].stack, 5);
}

TEST(ThreadAccount, WhatRecordsToldWinsOverWhatProcSaid) {
  ThreadAccount account(kOn, kOff);
  account.found(kMain, 100);
  account.sampled(kMain, 110, 0, 7);  // it ran
  account.asleep(kMain, 5);
  account.leaves_from(kMain, 120, 6);
  account.switched_out(kMain, 120, false);
  account.asleep(kMain, 5);
  account.switched_in(kMain, 150);
  account.stop(160);
  const std::vector<SampleRow> rows = account.take_samples();
  EXPECT_EQ(sum(rows, kOn), 30);
  EXPECT_EQ(sum(rows, kOff), 30);
  EXPECT_EQ(std::ranges::find(rows, kOff, &SampleRow::event)->stack, 6);
}

TEST(ThreadAccount, TheStackOfAWaitIsNotThatOfTheNext) {
  ThreadAccount account(kOn, kOff);
  account.found(kMain, 100);
  account.asleep(kMain, 5);
  account.switched_in(kMain, 110);
  account.switched_out(kMain, 120, false);
  account.switched_in(kMain, 130);
  const std::vector<SampleRow> rows = account.take_samples();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].stack, 5);
  EXPECT_EQ(rows[1].stack, kNull);
}

TEST(ThreadAccount, LivesGoOnInAnotherRecording) {
  constexpr ThreadId kAsleep{10, 11};
  ThreadAccount account(kOn, kOff);
  account.running(kMain, 100);
  account.sampled(kMain, 110, 0, 7);
  account.running(kAsleep, 100);
  account.switched_out(kAsleep, 120, false);
  account.cut(200);
  std::vector<SampleRow> rows = account.take_samples();
  EXPECT_EQ(sum(rows, kOn), 100 + 20);
  EXPECT_EQ(sum(rows, kOff), 80);
  EXPECT_EQ(
      std::ranges::count_if(account.take_threads(), [](const auto& row) { return row.end == 200; }),
      2);
  account.go_on(3);
  EXPECT_EQ(account.lost_asleep(), std::vector<ThreadId>{kAsleep});
  account.asleep(kAsleep, 9);
  account.stop(53);
  rows = account.take_samples();
  EXPECT_EQ(sum(rows, kOn), 50);
  EXPECT_EQ(sum(rows, kOff), 50);
  const auto off = std::ranges::find(rows, kOff, &SampleRow::event);
  EXPECT_EQ(off->ts, 3);
  EXPECT_EQ(off->stack, 9);
  for (const trace::ThreadRow& row : account.take_threads()) EXPECT_EQ(row.start, 3);
}

TEST(ThreadAccount, AllThreadsOfAProcessEnd) {
  ThreadAccount account(kOn, kOff);
  account.found({9, 99}, 1);
  account.found({10, 10}, 1);
  account.found({10, 12}, 1);
  account.found({11, 11}, 1);
  account.ended_all(10, 5);
  EXPECT_TRUE(account.knows({9, 99}));
  EXPECT_FALSE(account.knows({10, 10}));
  EXPECT_FALSE(account.knows({10, 12}));
  EXPECT_TRUE(account.knows({11, 11}));
}

TEST(ThreadAccount, WhereAThreadSleepsMayBeSeenLater) {
  ThreadAccount account(kOn, kOff);
  account.running(kMain, 0);
  account.sampled(kMain, 10, 0, 7);
  account.switched_out(kMain, 20, false);
  EXPECT_EQ(account.asleep_somewhere(20), std::vector<ThreadId>{}) << "for a moment alone";
  EXPECT_EQ(account.asleep_somewhere(21), std::vector<ThreadId>{kMain});
  account.slept_in(kMain, 9, 19);
  EXPECT_EQ(account.asleep_somewhere(50).size(), 1U) << "what was seen before is another sleep";
  account.slept_in(kMain, 9, 30);
  account.slept_in(kMain, 8, 31);
  account.slept_in({1, 1}, 8, 31);
  EXPECT_TRUE(account.asleep_somewhere(50).empty()) << "asked once";
  account.switched_in(kMain, 60);
  account.slept_in(kMain, 9, 61);
  account.switched_out(kMain, 70, false);
  account.slept_in(kMain, kNull, 75);
  EXPECT_TRUE(account.asleep_somewhere(80).empty()) << "nobody may know";
  account.switched_in(kMain, 80);
  account.switched_out(kMain, 90, true);
  EXPECT_TRUE(account.asleep_somewhere(100).empty()) << "it is not asleep";
  account.switched_in(kMain, 100);
  account.leaves_from(kMain, 110, 5);
  account.switched_out(kMain, 110, false);
  EXPECT_TRUE(account.asleep_somewhere(120).empty()) << "it is known";
  account.stop(130);
  std::vector<std::int64_t> stacks;
  for (const SampleRow& row : account.take_samples())
    if (row.event == kOff) stacks.push_back(row.stack);
  EXPECT_EQ(stacks, (std::vector<std::int64_t>{9, 7, 7, 5}));
}

}  // namespace
}  // namespace fathom::sources
