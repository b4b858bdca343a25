// SPDX-License-Identifier: MIT
#include "analysis/application/series.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Growth, BetweenPointsItGrowsEvenly) {
  const Growth cpu({{0, 10}, {100, 30}, {200, 30}});
  EXPECT_EQ(cpu.total(), 20);
  EXPECT_EQ(cpu.between(0, 200), 20);
  EXPECT_EQ(cpu.between(25, 75), 10);
  EXPECT_EQ(cpu.between(-50, 50), 10);
  EXPECT_EQ(cpu.between(100, 900), 0);
  EXPECT_EQ(cpu.between(90, 10), 0);
}

TEST(Growth, ACounterThatBeginsAgainDoesNotShrink) {
  const Growth cpu({{0, 5}, {1, 3}, {2, 9}});
  EXPECT_EQ(cpu.total(), 4);
}

TEST(Growth, WithoutTwoPointsNothingIsKnown) {
  EXPECT_TRUE(Growth({}).empty());
  EXPECT_TRUE(Growth({{1, 1}}).empty());
  EXPECT_EQ(Growth({{1, 1}}).peak_rate(), 0);
}

// Half a core, in bursts: a tenth of a second busy, a tenth idle.
TEST(Growth, APeakIsThatOfASecond) {
  std::vector<Point> points;
  double used = 0;
  for (int i = 0; i <= 40; ++i) {
    points.push_back({i * 100 * kMs, used});
    if (i % 2 == 0) used += 0.1;
  }
  EXPECT_NEAR(Growth(points).peak_rate(), 0.5, 1e-9);
}

TEST(Growth, APeakInTheMiddle) {
  EXPECT_NEAR(Growth({{0, 0}, {1000 * kMs, 1}, {2000 * kMs, 4}, {3000 * kMs, 5}}).peak_rate(), 3,
              1e-9);
}

TEST(Growth, OfAShortSeriesThePeakIsItsRate) {
  EXPECT_NEAR(Growth({{0, 0}, {100 * kMs, 0.1}, {500 * kMs, 0.1}}).peak_rate(), 0.2, 1e-9);
}

TEST(Level, MedianPeakAndArea) {
  const Level memory({{0, 10}, {100, 50}, {200, 20}});
  EXPECT_EQ(memory.median(), 20);
  EXPECT_EQ(memory.peak(), 50);
  EXPECT_NEAR(memory.mean(), 80.0 / 3, 1e-9);
  EXPECT_EQ(memory.area(0, 200), 10 * 100 + 50 * 100);
  EXPECT_EQ(memory.area(150, 250), 50 * 50 + 20 * 50);
  EXPECT_EQ(memory.area(-10, 0), 100);
  EXPECT_EQ(memory.area(5, 5), 0);
}

}  // namespace
}  // namespace fathom::analysis
