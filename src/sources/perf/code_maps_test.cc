// SPDX-License-Identifier: MIT
#include "sources/perf/code_maps.h"

#include <gtest/gtest.h>

namespace fathom::sources {
namespace {

TEST(CodeMaps, CodeWithItsFile) {
  const auto mappings = parse_code_maps(
      "55d0a0000000-55d0a0001000 r--p 00000000 08:01 42                         /bin/a program\n"
      "55d0a0001000-55d0a0003000 r-xp 00001000 08:01 42                         /bin/a program\n"
      "55d0a0003000-55d0a0004000 rw-p 00003000 08:01 42                         /bin/a program\n"
      "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n");
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[0].address, 0x55d0a0001000U);
  EXPECT_EQ(mappings[0].length, 0x2000U);
  EXPECT_EQ(mappings[0].offset, 0x1000U);
  EXPECT_EQ(mappings[0].inode, 42U);
  EXPECT_EQ(mappings[0].path, "/bin/a program");
  EXPECT_EQ(mappings[1].path, "[vdso]");
}

TEST(CodeMaps, WhatMakesNoSenseIsLeftOut) {
  for (const char* line :
       {"", "x", "1000-2000 r-xp", "1000-2000 r-xp 0 08:01 42", "2000-1000 r-xp 0 08:01 42 /a",
        "1000-2000 r-xp 0 08:01 x /a", "1000-1000 r-xp 0 08:01 42 /a", "1000 r-xp 0 08:01 42 /a",
        "1000-20zz r-xp 0 08:01 42 /a", "1000-2000 r-xp -1 08:01 42 /a",
        "1000-2000 rx 0 08:01 42 /a", "1000-10000000000000000 r-xp 0 08:01 42 /a"}) {
    EXPECT_TRUE(parse_code_maps(line).empty()) << line;
  }
  EXPECT_EQ(parse_code_maps("1000-2000 --xp 0 08:01 42 /a").size(), 1U);
}

}  // namespace
}  // namespace fathom::sources
