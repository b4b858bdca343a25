// SPDX-License-Identifier: MIT
#include "analysis/histogram.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(HistogramTest, NothingHasNoQuantile) {
  EXPECT_FALSE(Histogram().quantile(0.5, 0, 100).has_value());
}

TEST(HistogramTest, QuantilesLieInTheRightBucket) {
  Histogram histogram;
  histogram.add(4, 90);   // 16 to 31
  histogram.add(10, 10);  // 1024 to 2047
  const std::int64_t median = *histogram.quantile(0.5, 0, 10'000);
  EXPECT_GE(median, 16);
  EXPECT_LT(median, 32);
  const std::int64_t high = *histogram.quantile(0.99, 0, 10'000);
  EXPECT_GE(high, 1024);
  EXPECT_LE(high, 2048);
}

TEST(HistogramTest, KnownExtremesBoundTheGuess) {
  Histogram histogram;
  histogram.add(9, 1000);
  EXPECT_EQ(histogram.quantile(0.5, 1000, 1000), 1000);
  EXPECT_EQ(histogram.quantile(0.99, 512, 600), 600);
}

TEST(HistogramTest, FromListsSkipsWhatIsNoCount) {
  const List buckets = {Value(std::int64_t{1}), Value(std::int64_t{99}), Value(std::int64_t{-1})};
  const List counts = {Value(std::int64_t{7}), Value(std::int64_t{5}), Value(std::int64_t{5})};
  const Histogram histogram = Histogram::from(buckets, counts);
  EXPECT_EQ(histogram.total(), 7);
  EXPECT_EQ(histogram.count(1), 7);
}

TEST(HistogramTest, BoundsArePowersOfTwo) {
  EXPECT_EQ(Histogram::lower_bound(0), 0);
  EXPECT_EQ(Histogram::lower_bound(12), 4096);
}

}  // namespace
}  // namespace fathom::analysis
