// SPDX-License-Identifier: MIT
#include "sources/perf/proc_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace fathom::sources {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// One process, 7, whose looks are made up.
class ProcRowsTest : public ::testing::Test {
 protected:
  ThreadLook thread(std::int32_t tid, std::int64_t ran_ms, std::int64_t ready_ms,
                    std::uint64_t arrivals) {
    ThreadLook look;
    look.tid = tid;
    look.name = "hand";
    look.times = {.ran = ran_ms * kMs, .ready = ready_ms * kMs, .arrivals = arrivals};
    look.awake = true;
    return look;
  }
  ThreadLook asleep(ThreadLook look, const char* call, const char* place = "") {
    look.awake = false;
    look.call = call;
    look.kernel_place = place;
    return look;
  }
  ProcessLook process(std::vector<ThreadLook> threads, std::int64_t ended_ms = 0) {
    ProcessLook look;
    look.stat.pid = 7;
    look.stat.name = "crew";
    look.stat.start_stack = stack_;
    look.ran = ended_ms * kMs;
    for (const ThreadLook& one : threads) look.ran += one.times.ran;
    look.threads = std::move(threads);
    return look;
  }
  void at(std::int64_t ms, const ProcessLook& look) { rows_.look({look}, ms * kMs, nobody_); }
  // It becomes a program with the first look after this.
  void adopt() {
    rows_.adopt(process({thread(7, 0, 0, 1)}), 0);
    stack_ = 2;
  }
  trace::HostRows stop(std::int64_t ms, std::optional<std::int64_t> used_ms = std::nullopt) {
    rows_.stop(ms * kMs, used_ms ? std::optional(*used_ms * kMs) : std::nullopt);
    trace::HostRows rows;
    rows_.drain(strings_, rows);
    return rows;
  }
  std::int64_t sum(const trace::HostRows& rows, const char* event, std::int32_t tid) {
    std::int64_t ns = 0;
    for (const trace::SampleRow& row : rows.samples.rows)
      if (row.tid == tid && strings_.view(row.event) == event) ns += row.weight;
    return ns / kMs;
  }
  std::int64_t ready(const trace::HostRows& rows) {
    std::int64_t ns = 0;
    for (const trace::SampleRow& row : rows.samples.rows)
      ns += std::max<std::int64_t>(0, row.ready);
    return ns / kMs;
  }
  // Functions of a stretch's stack, outermost first.
  std::string functions(const trace::HostRows& rows, std::int64_t stack) {
    std::string text;
    for (const trace::FrameRow& row : rows.frames.rows)
      if (row.stack == stack) text += std::string(strings_.view(row.frame.function)) + ";";
    return text;
  }
  static std::int64_t life(const trace::HostRows& rows, std::int32_t tid) {
    std::int64_t ns = 0;
    for (const trace::ThreadRow& row : rows.lives.threads)
      if (row.tid == tid && row.end != trace::kNull) ns += row.end - row.start;
    return ns / kMs;
  }

  ProcReader nobody_{"/nowhere"};
  trace::Strings strings_;
  std::uint64_t stack_ = 1;
  ProcRows rows_{{}};
};

TEST_F(ProcRowsTest, AThreadThatSleepsRanBefore) {
  adopt();
  at(10, process({asleep(thread(7, 3, 2, 2), "read", "pipe_read")}));
  at(20, process({asleep(thread(7, 3, 2, 2), "read", "pipe_read")}));
  const trace::HostRows rows = stop(20);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 3);
  EXPECT_EQ(sum(rows, "off-cpu", 7), 17);
  EXPECT_EQ(ready(rows), 2);
  EXPECT_EQ(life(rows, 7), 20);
  ASSERT_EQ(rows.samples.rows.size(), 3U);  // the two looks are one stretch
  for (const trace::SampleRow& row : rows.samples.rows) {
    if (row.weight != 15 * kMs) continue;
    EXPECT_EQ(row.ts, 5 * kMs);
    EXPECT_EQ(functions(rows, row.stack), "read;pipe_read;");
  }
}

TEST_F(ProcRowsTest, AThreadThatWakesSleptWhereItWasSeen) {
  adopt();
  at(10, process({asleep(thread(7, 10, 0, 1), "futex")}));
  at(40, process({thread(7, 15, 0, 2)}));  // what is missing may be counted later
  at(50, process({thread(7, 20, 0, 3)}));  // it was not
  const trace::HostRows rows = stop(50);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 20);
  EXPECT_EQ(sum(rows, "off-cpu", 7), 20);
  EXPECT_EQ(life(rows, 7), 40);
}

TEST_F(ProcRowsTest, WhatACPUCountsLateIsNoSleep) {
  adopt();
  at(10, process({thread(7, 3, 0, 1)}));
  at(20, process({thread(7, 19, 0, 1)}));
  at(30, process({thread(7, 30, 0, 1)}));
  const trace::HostRows rows = stop(30);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 30);
  EXPECT_EQ(sum(rows, "off-cpu", 7), 0);
  EXPECT_EQ(life(rows, 7), 30);
}

TEST_F(ProcRowsTest, WhatAQueueTellsLateIsNoSleep) {
  adopt();
  at(10, process({thread(7, 10, 0, 1)}));
  at(20, process({thread(7, 10, 0, 1)}));
  at(30, process({thread(7, 10, 0, 1)}));
  at(40, process({asleep(thread(7, 12, 25, 2), "read")}));
  const trace::HostRows rows = stop(40);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 12);
  EXPECT_EQ(ready(rows), 25);
  EXPECT_EQ(sum(rows, "off-cpu", 7), 28);
  EXPECT_EQ(life(rows, 7), 40);
}

TEST_F(ProcRowsTest, AThreadThatIsNeverSeenAsleepSleptAllTheSame) {
  adopt();
  for (int look = 1; look <= 10; look++)  // every other 20 ms
    at(look * 20, process({thread(7, look * 10, 0, 1 + static_cast<std::uint64_t>(look))}));
  const trace::HostRows rows = stop(200);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 100);
  EXPECT_EQ(sum(rows, "off-cpu", 7), 80);  // the last look's is open still
  for (const trace::SampleRow& row : rows.samples.rows) {
    if (strings_.view(row.event) != "off-cpu") continue;
    EXPECT_EQ(row.stack, trace::kNull);
  }
}

TEST_F(ProcRowsTest, ThreadsThatEndHaveTheRestOfTheirProcess) {
  adopt();
  at(10, process({asleep(thread(7, 2, 0, 1), "futex"), thread(8, 5, 0, 1)}));
  at(20, process({asleep(thread(7, 2, 0, 1), "futex")}, 11));
  const trace::HostRows rows = stop(20);
  EXPECT_EQ(sum(rows, "cpu-clock", 8), 11);
  EXPECT_EQ(life(rows, 8), 11);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 2);
}

TEST_F(ProcRowsTest, ThreadsThatNobodySawAreNotMissing) {
  adopt();
  at(10, process({asleep(thread(7, 2, 0, 1), "futex")}, 6));
  const trace::HostRows rows = stop(20, 30);
  EXPECT_EQ(sum(rows, "cpu-clock", 0), 6 + 22);  // of threads, and of processes that it waited for
  EXPECT_EQ(life(rows, 0), 28);
}

TEST_F(ProcRowsTest, LivesThatTheLibraryTellsAreNotToldAgain) {
  ProcRows rows({.lives_are_told = true});
  rows.adopt(process({thread(7, 0, 0, 1)}), 0);
  rows.stop(10 * kMs, 5 * kMs);
  trace::HostRows told;
  rows.drain(strings_, told);
  EXPECT_EQ(sum(told, "cpu-clock", 0), 5);
  EXPECT_EQ(life(told, 0), 0);
}

TEST_F(ProcRowsTest, WhatTheProcessUsedBeforeIsNotTheProgram) {
  rows_.adopt(process({thread(7, 4, 0, 1)}), 0);
  stack_ = 2;
  at(10, process({asleep(thread(7, 7, 0, 1), "read")}));
  const trace::HostRows rows = stop(10, 7);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 3);
  EXPECT_EQ(sum(rows, "cpu-clock", 0), 0);
  ASSERT_FALSE(rows.lives.processes.empty());
  EXPECT_EQ(rows.lives.processes[0].rung, "proc");
  EXPECT_EQ(rows.lives.processes[0].start, 0);
}

TEST_F(ProcRowsTest, AnotherProgramIsARowOfItsOwn) {
  adopt();
  at(10, process({asleep(thread(7, 2, 0, 1), "futex")}));
  stack_ = 3;
  at(20, process({asleep(thread(7, 5, 0, 1), "read")}));
  at(30, process({asleep(thread(7, 5, 0, 1), "read")}));
  const trace::HostRows rows = stop(30);
  std::vector<std::int64_t> starts;
  for (const trace::ProcessRow& row : rows.lives.processes) starts.push_back(row.start / kMs);
  EXPECT_THAT(starts, ::testing::ElementsAre(0, 0, 20));  // begins; ends; begins
  EXPECT_EQ(life(rows, 7), 30);
  EXPECT_EQ(sum(rows, "off-cpu", 7), 25);
}

// It ran for 500 ms before anybody looked.
TEST_F(ProcRowsTest, OneThatJoinsIsToldFromThenOn) {
  rows_.join(process({thread(7, 500, 20, 9), asleep(thread(8, 50, 0, 5), "poll")}), 1000 * kMs,
             nobody_);
  at(1010, process({thread(7, 510, 20, 9), asleep(thread(8, 50, 0, 5), "poll")}));
  at(1020, process({thread(7, 520, 20, 9), asleep(thread(8, 50, 0, 5), "poll")}));
  ASSERT_EQ(rows_.followed().size(), 1U);
  EXPECT_EQ(rows_.followed()[0].process, 7);
  EXPECT_EQ(rows_.followed()[0].since_ns, 1000 * kMs);
  const trace::HostRows rows = stop(1020);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 20);
  EXPECT_EQ(ready(rows), 0);
  EXPECT_EQ(life(rows, 7), 20);
  EXPECT_EQ(sum(rows, "off-cpu", 8), 20);
  EXPECT_EQ(sum(rows, "cpu-clock", 8), 0);
  EXPECT_EQ(rows.lives.threads.front().name, "hand");
}

TEST_F(ProcRowsTest, JoiningTwiceIsJoiningOnce) {
  rows_.join(process({thread(7, 500, 0, 9)}), 1000 * kMs, nobody_);
  at(1010, process({thread(7, 510, 0, 9)}));
  rows_.join(process({thread(7, 510, 0, 9)}), 1010 * kMs, nobody_);
  at(1020, process({thread(7, 520, 0, 9)}));
  EXPECT_EQ(sum(stop(1020), "cpu-clock", 7), 20);
}

TEST_F(ProcRowsTest, OneThatLeavesEndsThere) {
  rows_.join(process({thread(7, 500, 0, 9)}), 1000 * kMs, nobody_);
  at(1010, process({thread(7, 510, 0, 9)}));
  rows_.leave(7);
  rows_.leave(8);
  EXPECT_TRUE(rows_.followed().empty());
  const trace::HostRows rows = stop(2000);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 10);
  EXPECT_EQ(rows.lives.processes.back().end, 1010 * kMs);
}

TEST_F(ProcRowsTest, AnotherRecordingGoesOnWhereThisOneEnds) {
  const auto sleeper = [&] { return asleep(thread(8, 50, 0, 5), "poll"); };
  rows_.join(process({thread(7, 500, 0, 9), sleeper()}), 1000 * kMs, nobody_);
  at(1010, process({thread(7, 510, 0, 9), sleeper()}));
  trace::HostRows before;
  rows_.cut(strings_, before);
  EXPECT_EQ(sum(before, "cpu-clock", 7), 10);
  EXPECT_EQ(sum(before, "off-cpu", 8), 10);
  EXPECT_EQ(life(before, 7), 10);
  rows_.begin_anew(1010 * kMs, 1010 * kMs);
  at(1050, process({thread(7, 550, 0, 9), sleeper()}));
  const trace::HostRows rows = stop(1050);
  EXPECT_EQ(sum(rows, "cpu-clock", 7), 40);
  EXPECT_EQ(sum(rows, "off-cpu", 8), 40);
  EXPECT_EQ(life(rows, 8), 40);
  EXPECT_EQ(rows.lives.processes.front().start, 0);
  for (const trace::SampleRow& row : rows.samples.rows)
    EXPECT_NE(functions(rows, row.stack), "") << "its stacks are told there, too";
}

}  // namespace
}  // namespace fathom::sources
