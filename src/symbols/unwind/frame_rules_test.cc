// SPDX-License-Identifier: MIT
#include "symbols/unwind/frame_rules.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace fathom::symbols {
namespace {

std::vector<FrameRules> rows_of(std::initializer_list<int> code) {
  std::string own;
  for (const int byte : code) own += static_cast<char>(byte);
  FrameProgram program;
  program.begin = 0x1000;
  program.end = 0x1100;
  program.own = own;
  std::vector<FrameRules> rows = run_frame_program(program);
  for (FrameRules& row : rows) row.cfa_expression = {};  // `own` ends here
  return rows;
}

// Registers of vectors have numbers behind ours. They are saved, but no caller's pc lies there.
TEST(FrameRules, RegistersThatNobodyFollowsAreNotKept) {
  constexpr int kLast = kRegisters - 1;
  const std::vector<FrameRules> rows =
      rows_of({DW_CFA_def_cfa, 7, 8, DW_CFA_offset_extended, kLast, 2, DW_CFA_offset_extended,
               kRegisters, 3, DW_CFA_offset | 0x3f, 4, DW_CFA_undefined, kRegisters + 1});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].is_defined);
  ASSERT_EQ(rows[0].saved.size(), 1U);
  EXPECT_EQ(rows[0].saved[0].number, kLast);
  EXPECT_EQ(rows[0].saved[0].value, 2);
}

TEST(FrameRules, AFrameCannotBeFoundByARegisterThatWeDoNotHave) {
  const std::vector<FrameRules> last = rows_of({DW_CFA_def_cfa, kRegisters - 1, 8});
  ASSERT_EQ(last.size(), 1U);
  EXPECT_TRUE(last[0].is_defined);
  const std::vector<FrameRules> beyond = rows_of({DW_CFA_def_cfa, kRegisters, 8});
  ASSERT_EQ(beyond.size(), 1U);
  EXPECT_FALSE(beyond[0].is_defined);
}

}  // namespace
}  // namespace fathom::symbols
