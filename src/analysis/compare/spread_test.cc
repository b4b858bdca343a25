// SPDX-License-Identifier: MIT
#include "analysis/compare/spread.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace fathom::analysis {
namespace {

using Values = std::vector<double>;

TEST(Spread, OfValuesByHand) {
  const Spread spread = spread_of(Values{4, 1, 3, 2});
  EXPECT_EQ(spread.count, 4U);
  EXPECT_EQ(spread.median, 2.5);
  EXPECT_EQ(spread.mean, 2.5);
  EXPECT_NEAR(spread.stddev, 1.2909944487, 1e-9);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.max, 4);
  EXPECT_EQ(spread.interval.low, 1);  // too few for less than all
  EXPECT_EQ(spread.interval.high, 4);
  EXPECT_TRUE(spread.outliers.empty());
}

TEST(Spread, OfOneValue) {
  const Spread spread = spread_of(Values{7});
  EXPECT_EQ(spread.median, 7);
  EXPECT_EQ(spread.stddev, 0);
  EXPECT_EQ(spread.interval.low, 7);
  EXPECT_EQ(spread.interval.high, 7);
}

// Ranks from tables of the sign test: 6 values leave none out, 9 one, 10 one, 20 five.
TEST(Spread, IntervalsAreThoseOfTheSignTest) {
  struct Case {
    std::size_t count;
    double low;
  };
  for (const Case& c : {Case{5, 1}, Case{6, 1}, Case{8, 1}, Case{9, 2}, Case{10, 2}, Case{12, 3},
                        Case{20, 6}, Case{100, 40}}) {
    Values values(c.count);
    std::iota(values.begin(), values.end(), 1.0);
    const Interval interval = spread_of(values).interval;
    EXPECT_EQ(interval.low, c.low) << c.count;
    EXPECT_EQ(interval.high, static_cast<double>(c.count) + 1 - c.low) << c.count;
  }
}

TEST(Spread, IntervalsOfVeryManyValuesStayNarrow) {
  Values values(20'000);
  std::iota(values.begin(), values.end(), 0.0);
  const Interval interval = spread_of(values).interval;
  EXPECT_NEAR(interval.low, 9860, 2);
  EXPECT_NEAR(interval.high, 10'139, 2);
}

TEST(Spread, OutliersAreFarFromTheOthers) {
  EXPECT_EQ(spread_of(Values{10, 11, 10, 12, 11, 50, 10}).outliers, (std::vector<std::size_t>{5}));
  EXPECT_EQ(spread_of(Values{10, 11, 10, 12, 11, 0.5, 10}).outliers, (std::vector<std::size_t>{5}));
  // Counts that are all but one the same: a difference of a tenth of a percent is none.
  EXPECT_TRUE(spread_of(Values{1000, 1000, 1000, 1001, 1000, 1000}).outliers.empty());
  EXPECT_EQ(spread_of(Values{1000, 1000, 1000, 1100, 1000, 1000}).outliers,
            (std::vector<std::size_t>{3}));
}

TEST(Spread, RatioOfMediansHasAnIntervalAroundIt) {
  const Values base = {10, 11, 9, 10, 12, 10, 9, 11}, other = {20, 22, 19, 20, 21, 18, 20, 23};
  Dice dice(1), same(1);
  const std::optional<Ratio> ratio = ratio_of_medians(base, other, dice);
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->value, 2);
  EXPECT_LT(ratio->interval.low, 2);
  EXPECT_GT(ratio->interval.high, 2);
  EXPECT_GT(ratio->interval.low, 1.5);
  EXPECT_LT(ratio->interval.high, 2.5);
  EXPECT_EQ(ratio_of_medians(base, other, same)->interval.low, ratio->interval.low);
}

TEST(Spread, NothingIsNoBaseOfARatio) {
  Dice dice(1);
  EXPECT_FALSE(ratio_of_medians(Values{0, 0, 0}, Values{1, 2, 3}, dice));
}

}  // namespace
}  // namespace fathom::analysis
