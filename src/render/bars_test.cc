// SPDX-License-Identifier: MIT
#include "render/bars.h"

#include <gtest/gtest.h>

#include <cmath>

#include "render/spark.h"

namespace fathom::render {
namespace {

TEST(Sparkline, RisesFromZeroToTheGreatest) {
  const double rising[] = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(rising), "▁▂▃▄▅▆▇█");
  const double flat[] = {5, 5, 5};
  EXPECT_EQ(sparkline(flat), "███");
  const double zeros[] = {0, 0};
  EXPECT_EQ(sparkline(zeros), "▁▁");
  const double below[] = {-1, 0, 1};
  EXPECT_EQ(sparkline(below), "▁▅█");
  const double holes[] = {1, std::nan(""), 1};
  EXPECT_EQ(sparkline(holes), "█ █");
  EXPECT_EQ(sparkline({}), "");
}

TEST(Sparkline, AveragesWhatIsLonger) {
  const double values[] = {0, 0, 4, 4, 8, 8};
  EXPECT_EQ(sparkline(values, 3), "▁▅█");
}

TEST(Bar, IsExactToAnEighth) {
  EXPECT_EQ(bar(0, 4), "");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 4), "██");
  EXPECT_EQ(bar(0.5, 1), "▌");
  EXPECT_EQ(bar(1e-9, 4), "▏");
  EXPECT_EQ(bar(7, 4), "████");
  EXPECT_EQ(bar(std::nan(""), 4), "");
}

TEST(Histogram, LinesUp) {
  const Bin bins[] = {{"1 us", 1000}, {"測", 250}, {"1 ms", 0}};
  EXPECT_EQ(histogram(bins, 4),
            "1 us  ████  1,000   80.0 %\n"
            "  測  █       250   20.0 %\n"
            "1 ms            0    0.0 %\n");
  EXPECT_EQ(histogram({}), "");
}

}  // namespace
}  // namespace fathom::render
