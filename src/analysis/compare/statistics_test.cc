// SPDX-License-Identifier: MIT
#include "analysis/compare/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::analysis {
namespace {

TEST(Statistics, IncompleteBetaHasKnownValues) {
  struct Case {
    double a, b, x, want;
  };
  for (const Case& c :
       {Case{2, 3, 0.4, 0.5248}, Case{0.5, 0.5, 0.25, 1.0 / 3},
        Case{5, 0.5, 0.9, 0.316642915020012}, Case{1, 1, 0.3, 0.3},
        Case{50, 0.5, 0.99, 0.317304397874198}, Case{10, 20, 0.35, 0.592386663663905},
        Case{2, 3, 0, 0}, Case{2, 3, 1, 1}}) {
    EXPECT_NEAR(incomplete_beta(c.a, c.b, c.x), c.want, 1e-12) << c.a << " " << c.b << " " << c.x;
  }
}

TEST(Statistics, CriticalValuesAreThoseOfTheTables) {
  struct Case {
    double degrees, want;
  };
  for (const Case& c :
       {Case{1, 12.7062047362}, Case{2, 4.30265272975}, Case{5, 2.57058183564},
        Case{10, 2.22813885199}, Case{30, 2.0422724563}, Case{120, 1.97993040508}}) {
    EXPECT_NEAR(student_critical(0.05, c.degrees), c.want, 1e-9) << c.degrees;
    EXPECT_NEAR(student_two_sided(c.want, c.degrees), 0.05, 1e-10) << c.degrees;
    EXPECT_NEAR(student_two_sided(-c.want, c.degrees), 0.05, 1e-10) << c.degrees;
  }
}

// The hours of sleep with which Student presented his test: t = 1.8608, df = 17.776.
TEST(Statistics, WelchOfStudentsSleepers) {
  const std::vector<double> first = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const Estimate estimate = welch(first, second);
  EXPECT_NEAR(estimate.before, 0.75, 1e-12);
  EXPECT_NEAR(estimate.change, 1.58, 1e-12);
  EXPECT_NEAR(*estimate.p, 0.07939414019, 1e-10);
  EXPECT_NEAR(*estimate.low, -0.2054832307, 1e-9);
  EXPECT_NEAR(*estimate.high, 3.365483231, 1e-9);
  EXPECT_FALSE(estimate.significant());
}

TEST(Statistics, WelchOfUnequalScatter) {
  const std::vector<double> a = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                                 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
  const std::vector<double> b = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                                 24.8, 20.2, 21.9, 22.1, 22.9, 30.0, 23.9};
  const Estimate estimate = welch(a, b);
  EXPECT_NEAR(*estimate.p, 0.008452732437, 1e-10);
  EXPECT_NEAR(*estimate.low, 0.7668882941, 1e-8);
  EXPECT_NEAR(*estimate.high, 4.766445039, 1e-8);
  EXPECT_TRUE(estimate.significant());
}

TEST(Statistics, OneRunTellsNothingOfScatter) {
  const std::vector<double> one = {10}, two = {20, 22};
  const Estimate estimate = welch(one, two);
  EXPECT_EQ(estimate.change, 11);
  EXPECT_FALSE(estimate.p || estimate.low || estimate.high);
  EXPECT_FALSE(estimate.significant());
  EXPECT_NEAR(*estimate.percent(), 110, 1e-12);
}

TEST(Statistics, ValuesWithoutScatter) {
  const std::vector<double> same = {3, 3, 3}, other = {4, 4};
  EXPECT_EQ(*welch(same, same).p, 1);
  const Estimate estimate = welch(same, other);
  EXPECT_EQ(*estimate.p, 0);
  EXPECT_EQ(*estimate.low, 1);
  EXPECT_EQ(*estimate.high, 1);
}

TEST(Statistics, PercentOfNothingIsNone) {
  const std::vector<double> zero = {0}, one = {1};
  EXPECT_FALSE(welch(zero, one).percent());
}

}  // namespace
}  // namespace fathom::analysis
