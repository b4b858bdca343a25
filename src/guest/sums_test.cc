// SPDX-License-Identifier: MIT
// Calls that are added up: where their sums lie, and that none is touched by whoever does not own
// it.
#include "guest/sums.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "guest/testing/world.h"

namespace fathom::guest {
namespace {

constexpr unsigned kPlace = 1;

class SumsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::enter_world();
    guest.run->interval_ns = UINT64_C(1) << 60;  // never over by itself
  }
};

void add(uint16_t kind, uint64_t ticks, uint64_t bytes = 0, bool failed = false) {
  const uint64_t now = tick();
  add_call(FATHOM_SOURCE_HEAP, kPlace, kind, {now - ticks, now, bytes, failed});
}

struct Found {
  uint64_t calls = 0, bytes = 0, errors = 0, records = 0;
};

// Of a kind that no other test uses.
Found find(uint16_t kind, int cursor = -1) {
  Found found;
  const testing::Contents contents = testing::read_spool();
  EXPECT_FALSE(contents.damaged);
  for (const testing::Run& run : contents.runs) {
    for (const auto& [of, sums] : run.sums) {
      if (of != kind || (cursor >= 0 && run.cursor != static_cast<uint64_t>(cursor))) continue;
      found.records++;
      found.bytes += sums.bytes;
      found.errors += sums.errors;
      for (const uint64_t count : sums.hist) found.calls += count;
    }
  }
  return found;
}

void forget() { tls.thread->sums[tls.level] = {}; }

TEST_F(SumsTest, AreOneRecord) {
  forget();
  add(101, 100, 7);
  const uint8_t* const after = tls.cursor.at;
  add(101, 10, 8);
  add(101, 1000, 0, true);
  EXPECT_EQ(tls.cursor.at, after);
  const fathom_sums& sums = *tls.thread->sums[0].of[kPlace];
  EXPECT_EQ(reinterpret_cast<uintptr_t>(&sums) % 8, 0U);
  EXPECT_EQ(sums.ticks, 1110U);
  EXPECT_EQ(sums.least, 10U);
  EXPECT_EQ(sums.most, 1000U);
  EXPECT_EQ(sums.begin_ns % sums.width_ns, 0U);
  const Found found = find(101);
  EXPECT_EQ(found.records, 1U);
  EXPECT_EQ(found.calls, 3U);
  EXPECT_EQ(found.bytes, 15U);
  EXPECT_EQ(found.errors, 1U);
}

// Ten and a half seconds after the start, at two ticks a nanosecond.
TEST_F(SumsTest, IntervalsAndTheRateCountFromTheStartOfTheRun) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const fathom_run_header before = *guest.run;
  guest.run->interval_ns = 60 * kSecond;
  guest.run->start_tick = tick() - 21 * kSecond;
  guest.run->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC) - 10 * kSecond - kSecond / 2;
  OpenSums open{};
  look_at_clock(open);
  EXPECT_EQ(open.begin_ns, 0U);
  EXPECT_NEAR(static_cast<double>(open.rate), 32768.0, 3000.0);
  guest.run->interval_ns = 5 * kSecond;
  look_at_clock(open);
  EXPECT_EQ(open.begin_ns % (5 * kSecond), 0U);
  EXPECT_GE(open.begin_ns, 10 * kSecond);
  EXPECT_GT(open.look_at, tick() - kSecond);
  guest.run->start_tick = before.start_tick;
  guest.run->start_monotonic_ns = before.start_monotonic_ns;
}

TEST_F(SumsTest, BucketsAreThoseOfNanoseconds) {
  constexpr uint64_t kHalf = UINT64_C(1) << 15;  // two ticks a nanosecond
  EXPECT_EQ(bucket_of(0, kHalf), 0U);
  EXPECT_EQ(bucket_of(7, kHalf), 1U);
  EXPECT_EQ(bucket_of(8, kHalf), 2U);
  EXPECT_EQ(bucket_of(2000, kHalf), 9U);
  EXPECT_EQ(bucket_of(UINT64_MAX, kHalf), 39U);
}

TEST_F(SumsTest, ANewSegmentBeginsNewOnes) {
  forget();
  add(102, 1);
  const fathom_sums* const before = tls.thread->sums[0].of[kPlace];
  ASSERT_TRUE(acquire_segment());
  EXPECT_EQ(tls.thread->sums[0].of[kPlace], nullptr);
  add(102, 1);
  EXPECT_NE(tls.thread->sums[0].of[kPlace], before);
  EXPECT_EQ(find(102).calls, 2U);
  EXPECT_EQ(find(102).records, 2U);
}

TEST_F(SumsTest, ANewIntervalBeginsNewOnes) {
  forget();
  add(103, 1);
  OpenSums& open = tls.thread->sums[0];
  open.look_at = 0;  // a look at the clock, and the interval is the same
  add(103, 1);
  EXPECT_EQ(find(103).records, 1U);
  open.begin_ns = 1;  // of another one
  open.look_at = 0;
  add(103, 1);
  EXPECT_EQ(find(103).records, 2U);
  EXPECT_EQ(find(103).calls, 3U);
}

// As a handler does that interrupted a writer.
TEST_F(SumsTest, AHandlersSumsAreItsOwn) {
  forget();
  add(104, 1);
  {
    const Writer interrupted(FATHOM_SOURCE_RUNTIME);
    for (int i = 0; i < 5; i++) add(104, 1);
    EXPECT_EQ(tls.level, 0);
  }
  add(104, 1);
  EXPECT_EQ(find(104, 0).calls, 2U);
  EXPECT_EQ(find(104, 1).calls, 5U);
}

TEST_F(SumsTest, AChildAddsToItsOwn) {
  forget();
  add(105, 1);
  const pid_t child = fork();
  if (child == 0) {
    testing::become_child();
    for (int i = 0; i < 4; i++) add(105, 1);
    _exit(find(105).records == 2 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  add(105, 1);
  EXPECT_EQ(find(105).calls, 6U);
  EXPECT_EQ(find(105).records, 2U);
}

TEST_F(SumsTest, ThreadsShareASegmentOneAfterTheOther) {
  for (int i = 0; i < 20; i++) {
    std::thread([] {
      add(106, 1);
      add(106, 1);
    }).join();
  }
  EXPECT_EQ(find(106).calls, 40U);
  EXPECT_EQ(find(106).records, 20U);
}

TEST_F(SumsTest, WhatFindsNoRoomIsCounted) {
  forget();
  const uint64_t before = testing::losses(FATHOM_SOURCE_HEAP, FATHOM_LOSS_NESTED);
  const Writer first(FATHOM_SOURCE_RUNTIME);
  tls.level = kCursors - 1;
  add(107, 1);
  tls.level = 0;
  EXPECT_EQ(testing::losses(FATHOM_SOURCE_HEAP, FATHOM_LOSS_NESTED), before + 1);
  EXPECT_EQ(find(107).calls, 0U);
}

}  // namespace
}  // namespace fathom::guest
