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

}  // namespace
}  // namespace fathom::trace
