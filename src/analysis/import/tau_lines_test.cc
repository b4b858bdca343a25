// SPDX-License-Identifier: MIT
#include "analysis/import/tau_lines.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(TauLines, ARow) {
  const auto row =
      parse_tau_function("\"work [{/app.py} {72,0}]\" 8 3 12.5 1E3 0 GROUP=\"TAU_PYTHON\"");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->name, "work");
  EXPECT_EQ(row->file, "/app.py");
  EXPECT_EQ(row->layer, "python");
  EXPECT_EQ(row->calls, 8);
  EXPECT_EQ(row->self_ns, 12'500);
  EXPECT_EQ(row->total_ns, 1'000'000);
  EXPECT_FALSE(row->is_path);
}

TEST(TauLines, PathsRootsAndLayers) {
  EXPECT_TRUE(parse_tau_function("\"a  => b\" 1 0 1 1 0 GROUP=\"X\"")->is_path);
  EXPECT_TRUE(parse_tau_function("\".TAU application\" 1 0 1 1 0 GROUP=\"TAU_DEFAULT\"")->is_root);
  EXPECT_EQ(parse_tau_function("\"read [posix]\" 1 0 1 1 0 GROUP=\"TAU_IO\"")->layer, "posix");
}

TEST(TauLines, WhatIsNone) {
  for (const char* line :
       {"", "\"a\" 1 0 1 1 0", "a 1 0 1 1 0 GROUP=\"x\"", "\"a\" 1 0 1 GROUP=\"x\"",
        "\"a\" -1 0 1 1 0 GROUP=\"x\"", "\"a\" 1 0 nan 1 0 GROUP=\"x\"",
        "\"a\" 1 0 1 1e300 0 GROUP=\"x\"", "\" 1 0 1 1 0 GROUP=\"x\""})
    EXPECT_FALSE(parse_tau_function(line)) << line;
}

TEST(TauLines, HeadAndFileName) {
  EXPECT_EQ(parse_tau_head("12 templated_functions_MULTI_TIME"), 12);
  EXPECT_FALSE(parse_tau_head("-1 templated_functions"));
  EXPECT_FALSE(parse_tau_head("12 other"));
  EXPECT_EQ(parse_tau_file_name("profile.3.0.2")->node, 3);
  EXPECT_EQ(parse_tau_file_name("profile.3.0.2")->thread, 2);
  for (const char* name : {"profile.json", "profile.3.0.x", "profile.-3.0.2", "a.profile", ""})
    EXPECT_FALSE(parse_tau_file_name(name)) << name;
}

}  // namespace
}  // namespace fathom::analysis
