// SPDX-License-Identifier: MIT
#include "trace/recording/seen_from_outside.h"

#include <gtest/gtest.h>

namespace fathom::trace {
namespace {

ProcessRow row(std::int64_t pid, std::int64_t start, std::int64_t exit) {
  ProcessRow row;
  row.pid = pid;
  row.start = start;
  row.exit = exit;
  return row;
}

ThreadRow thread(std::int64_t start, std::int64_t end, std::int64_t ready) {
  ThreadRow row;
  row.pid = row.tid = 7;
  row.start = start;
  row.end = end;
  row.ready = ready;
  return row;
}

TEST(SeenFromOutside, TheLastWordOfAnImageHolds) {
  std::vector<ProcessRow> rows = {row(1, 0, 7)};
  const std::vector<ProcessRow> seen = {row(2, 10, kNull), row(1, 0, 9), row(2, 20, kNull),
                                        row(2, 10, 3)};
  add_seen_from_outside(seen, "here", rows);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].exit, 7);  // it told of itself
  EXPECT_EQ(rows[1].start, 10);
  EXPECT_EQ(rows[1].exit, 3);
  EXPECT_EQ(rows[1].host, "here");
  EXPECT_EQ(rows[2].start, 20);  // another program of the process
  EXPECT_EQ(rows[2].exit, kNull);
}

TEST(SeenFromOutside, WhatAProcessBecameIsAnotherImageOfIt) {
  std::vector<ProcessRow> seen = {row(2, 10, kNull), row(2, 20, kNull), row(2, 40, kNull)};
  seen[0].end = 20;
  seen[1].end = 30;
  std::vector<ProcessRow> rows;
  add_seen_from_outside(seen, "here", rows);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].image, 0);
  EXPECT_EQ(rows[0].end, 19) << "no moment belongs to both";
  EXPECT_EQ(rows[1].image, 1);
  EXPECT_EQ(rows[2].image, 0) << "the number was given away again";
}

TEST(SeenFromOutside, ThreadsThatToldNothingAreThoseThatWereSeen) {
  const auto thread = [](std::int64_t pid, std::int64_t tid, std::int64_t start, std::int64_t end) {
    ThreadRow row;
    row.pid = pid;
    row.tid = tid;
    row.start = start;
    row.end = end;
    return row;
  };
  std::vector<ThreadRow> rows = {thread(7, 7, 5, 50)};
  add_seen_from_outside({thread(7, 7, 4, 51), thread(7, 8, 10, kNull), thread(6, 6, 1, 9),
                         thread(7, 8, 10, 20), thread(6, 6, 30, 40)},
                        "here", rows);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].pid, 6);
  EXPECT_EQ(rows[0].host, "here");
  EXPECT_EQ(rows[1].start, 30) << "the same numbers, another life";
  EXPECT_EQ(rows[2].start, 5) << "it told of itself";
  EXPECT_EQ(rows[3].tid, 8);
  EXPECT_EQ(rows[3].end, 20) << "the last word holds";
}

// A sampler tells how it saw those who told of themselves; its other rows are those of nobody else.
TEST(SeenFromOutside, WhatWasSampledIsToldOfAll) {
  std::vector<ProcessRow> rows = {row(1, 0, 7), row(1, 50, 8)};
  rows[0].end = 50;
  rows[1].end = 90;
  std::vector<ProcessRow> seen = {row(1, 3, kNull), row(1, 52, kNull), row(2, 60, kNull),
                                  row(2, 61, kNull)};
  seen[0].end = 52;
  seen[1].end = 88;
  seen[2].end = seen[3].end = 70;
  for (const std::size_t at : {0, 1, 3}) seen[at].rung = "perf";
  add_seen_from_outside(seen, "here", rows);
  ASSERT_EQ(rows.size(), 3U) << "two saw the process 2";
  for (const ProcessRow& row : rows) EXPECT_EQ(row.rung, "perf");
  EXPECT_EQ(rows[0].start, 0) << "the life is as it told";
  EXPECT_EQ(rows[2].start, 60);
}

TEST(SeenFromOutside, AThreadThatWasSampledLivesAsLongAsTheSamplerSaw) {
  std::vector<ThreadRow> rows = {thread(5, 50, kNull), thread(50, 90, kNull)};
  add_seen_from_outside({thread(3, kNull, 0), thread(3, 52, 9), thread(52, 93, 1)}, "here", rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].start, 3);
  EXPECT_EQ(rows[0].end, 52);
  EXPECT_EQ(rows[0].ready, 9);
  EXPECT_EQ(rows[1].start, 52);
  EXPECT_EQ(rows[1].end, 93);
  EXPECT_EQ(rows[1].ready, 1);
}

// exec takes a while: the program tells of its begin, the sampler of its end.
TEST(SeenFromOutside, TwoLivesThatWereSampledAreTwoAlsoWhereBothOverlapTheSecondMost) {
  std::vector<ThreadRow> rows = {thread(5, 6, kNull), thread(6, 90, kNull)};
  add_seen_from_outside({thread(4, 30, 2), thread(30, 93, 1)}, "here", rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].start, 4);
  EXPECT_EQ(rows[0].end, 30);
  EXPECT_EQ(rows[0].ready, 2);
  EXPECT_EQ(rows[1].start, 30);
  EXPECT_EQ(rows[1].end, 93);
  EXPECT_EQ(rows[1].ready, 1);
}

// The second program was over soon: what was sampled of the first one overlaps it for longer.
TEST(SeenFromOutside, ALongExecBeforeAShortProgramMakesNoThreadLiveTwice) {
  std::vector<ThreadRow> rows = {thread(0, 56, kNull), thread(56, 105, kNull)};
  add_seen_from_outside({thread(44, 103, 55), thread(103, 105, 0)}, "here", rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].start, 44);
  EXPECT_EQ(rows[0].end, 103);
  EXPECT_EQ(rows[1].start, 103);
  EXPECT_EQ(rows[1].end, 105);
}

TEST(SeenFromOutside, ALongExecBeforeAShortProgramLeavesNoProcessWithoutItsRung) {
  std::vector<ProcessRow> rows = {row(1, 0, kNull), row(1, 338'000'000, 0)};
  rows[0].end = 338'000'000;
  rows[1].end = 880'000'000;
  std::vector<ProcessRow> seen = {row(1, 256'000'000, kNull), row(1, 861'000'000, 0)};
  seen[0].end = 861'000'000;
  seen[1].end = 880'000'000;
  for (ProcessRow& one : seen) one.rung = "perf";
  add_seen_from_outside(seen, "here", rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].rung, "perf");
  EXPECT_EQ(rows[1].rung, "perf");
}

TEST(SeenFromOutside, AThreadThatWasSampledTwiceAndToldOfItselfOnceHasBothLives) {
  std::vector<ThreadRow> rows = {thread(5, kNull, kNull)};
  add_seen_from_outside({thread(4, 30, 2), thread(30, 93, 1)}, "here", rows);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].end - rows[0].start + rows[1].end - rows[1].start, 89);
}

TEST(SeenFromOutside, AProcessThatWasSampledTwiceAndToldOfItselfOnceIsOneRow) {
  std::vector<ProcessRow> rows = {row(1, 0, 7)};
  std::vector<ProcessRow> seen = {row(1, 3, kNull), row(1, 52, kNull)};
  seen[0].end = 52;
  seen[1].end = 88;
  for (ProcessRow& one : seen) one.rung = "perf";
  add_seen_from_outside(seen, "here", rows);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].rung, "perf");
}

}  // namespace
}  // namespace fathom::trace
