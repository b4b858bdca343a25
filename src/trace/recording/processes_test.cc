// SPDX-License-Identifier: MIT
#include "trace/recording/processes.h"

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

TEST(Processes, TheLastWordOfAnImageHolds) {
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

TEST(Processes, WhatAProcessBecameIsAnotherImageOfIt) {
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

TEST(Processes, ThreadsThatToldNothingAreThoseThatWereSeen) {
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

// A program that told nothing of itself is a row of what its recorder knows.
TEST(Processes, TheProgramIsARowWhereNoneIsItsOwn) {
  Manifest manifest;
  manifest.command = {"/bin/prog", "--fast"};
  manifest.pid = 7;
  manifest.exit_status = 3;
  std::vector<ProcessRow> rows(1);
  rows[0].pid = 8;
  add_program(manifest, 5, rows);
  EXPECT_EQ(rows.size(), 1U) << "it has not ended";
  manifest.duration_ns = 100;
  for (int round = 0; round < 2; round++) {
    add_program(manifest, 5, rows);
    ASSERT_EQ(rows.size(), 2U) << "once";
  }
  EXPECT_EQ(rows[0].pid, 7);
  EXPECT_EQ(rows[0].ppid, 5);
  EXPECT_EQ(rows[0].name, "prog");
  EXPECT_EQ(rows[0].command, "/bin/prog --fast");
  EXPECT_EQ(rows[0].start, 0);
  EXPECT_EQ(rows[0].end, 100);
  EXPECT_EQ(rows[0].exit, 3);
}

}  // namespace
}  // namespace fathom::trace
