// SPDX-License-Identifier: MIT
#include "trace/recording/processes.h"

#include <gtest/gtest.h>

namespace fathom::trace {
namespace {

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
