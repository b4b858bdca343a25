// SPDX-License-Identifier: MIT
#include "symbols/perf_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/files.h"

namespace fathom::symbols {
namespace {

TEST(PerfMap, NamesAreTheRestOfALine) {
  const PerfMap map = PerfMap::parse(
      "7f0000001000 20 py::<module>:/a b/c.py\n"
      "0x7f0000002000 0x10 LazyCompile:~f  (native)\r\n"
      "nothing\n7f0000003000 zz x\n7f0000004000 10 \n ffffffffffffffff 10 wraps\n"
      "7f0000005000 1 last");
  EXPECT_EQ(map.find(0x7f0000001000), "py::<module>:/a b/c.py");
  EXPECT_EQ(map.find(0x7f000000101f), "py::<module>:/a b/c.py");
  EXPECT_EQ(map.find(0x7f0000001020), "");
  EXPECT_EQ(map.find(0x7f0000000fff), "");
  EXPECT_EQ(map.find(0x7f000000200f), "LazyCompile:~f  (native)");
  EXPECT_EQ(map.find(0x7f0000003000), "");
  EXPECT_EQ(map.find(0x7f0000004000), "");
  EXPECT_EQ(map.find(0x7f0000005000), "last");
  EXPECT_EQ(map.size(), 3U);
}

TEST(PerfMap, OfEntriesThatOverlapTheLaterHolds) {
  const PerfMap map = PerfMap::parse("1000 100 old\n1040 40 new\n2000 10 a\n1ff0 100 over\n");
  EXPECT_EQ(map.find(0x103f), "old");
  EXPECT_EQ(map.find(0x1040), "new");
  EXPECT_EQ(map.find(0x107f), "new");
  EXPECT_EQ(map.find(0x1080), "old");
  EXPECT_EQ(map.find(0x2000), "over");
}

TEST(PerfMap, GrowsLineByLine) {
  PerfMap map;
  map.add("1000 10 f\n2000 1", 5);
  EXPECT_EQ(map.find(0x1000), "f");
  EXPECT_EQ(map.find(0x2000), "");
  map.add("0 g", 6);
  EXPECT_EQ(map.find(0x2000), "");
  map.add("h\n", 7);
  EXPECT_EQ(map.find(0x2000), "gh");
}

// Between two readings nobody knows which of two functions was there.
TEST(PerfMap, MemoryThatIsUsedAgainHasNoNameBeforeThatWasRead) {
  PerfMap map;
  map.add("1000 10 f\n", 100);
  EXPECT_EQ(map.find(0x1000, 50), "f");
  map.add("1000 10 g\n3000 10 h\n", 200);
  EXPECT_EQ(map.find(0x1000, 150), "");
  EXPECT_EQ(map.find(0x1000, 200), "g");
  EXPECT_EQ(map.find(0x3000, 150), "h");
  map.add("3000 10 h\n", 300);
  EXPECT_EQ(map.find(0x3000, 150), "h") << "the same name again says nothing new";
}

}  // namespace
}  // namespace fathom::symbols
