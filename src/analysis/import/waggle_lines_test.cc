// SPDX-License-Identifier: MIT
#include "analysis/import/waggle_lines.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(WaggleLines, Moments) {
  const auto in = parse_waggle_moment("1600000000.5,In Function dive()");
  ASSERT_TRUE(in);
  EXPECT_EQ(in->epoch_ns, 1'600'000'000'500'000'000);
  EXPECT_EQ(in->name, "dive");
  EXPECT_TRUE(in->begins);
  EXPECT_FALSE(in->is_loop);
  EXPECT_FALSE(parse_waggle_moment("1,Leaving Function dive()")->begins);
  const auto bottom = parse_waggle_moment("1,Bottom of For Loop\r");
  ASSERT_TRUE(bottom);
  EXPECT_TRUE(bottom->is_loop);
  EXPECT_EQ(bottom->name, "For Loop");
  for (const char* line : {"", "x", "x,In Function a()", "1,Nonsense", "1,In Function ",
                           "-1,Top of x", "nan,Top of x", "1e99,Top of x"})
    EXPECT_FALSE(parse_waggle_moment(line)) << line;
}

TEST(WaggleLines, Stats) {
  const auto stats = parse_waggle_stats("1600000000.125,3,97.5,41");
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->cpus, (std::vector<double>{3, 97.5}));
  EXPECT_EQ(stats->memory, 41);
  for (const char* line : {"", "1,2", "1,2,x", "x,1,2"})
    EXPECT_FALSE(parse_waggle_stats(line)) << line;
}

}  // namespace
}  // namespace fathom::analysis
