// SPDX-License-Identifier: MIT
#include "analysis/compare/ranks.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace fathom::analysis {
namespace {

using Values = std::vector<double>;

double p_of(const Values& a, const Values& b) { return RankTest(a.size(), b.size()).p(a, b); }

TEST(Ranks, SmallSetsByHand) {
  // Of the 20 orders of three and three, two are as extreme.
  EXPECT_NEAR(p_of({1, 2, 3}, {4, 5, 6}), 0.1, 1e-12);
  EXPECT_NEAR(p_of({4, 5, 6}, {1, 2, 3}), 0.1, 1e-12);
  EXPECT_NEAR(p_of({1, 2, 4}, {3, 5, 6}), 0.2, 1e-12);
  EXPECT_NEAR(p_of({1}, {2}), 1, 1e-12);
  EXPECT_NEAR(RankTest(4, 4).smallest_p(), 2.0 / 70, 1e-12);
  EXPECT_NEAR(RankTest(10, 10).smallest_p(), 2.0 / 184'756, 1e-15);
}

// Critical values of the test at 5 %, two-sided: n = m = 8 is significant up to U = 13.
TEST(Ranks, CriticalValuesAreThoseOfTheTables) {
  const RankTest test(8, 8);
  const auto sets = [](double pairs) {  // a set whose pairs with 1…8 in order are as many
    Values first;
    for (int i = 0; i < 8; ++i) {
      const double here = std::min(pairs, 8.0);
      first.push_back(8.5 - here);
      pairs -= here;
    }
    return first;
  };
  const Values second = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_LT(test.p(sets(13), second), 0.05);
  EXPECT_GT(test.p(sets(14), second), 0.05);
}

TEST(Ranks, EqualValuesTellNothing) { EXPECT_EQ(p_of({5, 5, 5, 5}, {5, 5, 5, 5}), 1); }

TEST(Ranks, LargeSetsAreNearTheExactOnes) {
  Values a(101), b(101);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i);
    b[i] = static_cast<double>(i) + 8.5;
  }
  const double large = p_of(a, b);  // by the normal distribution
  a.pop_back();
  b.pop_back();
  const double exact = p_of(a, b);
  EXPECT_NEAR(large, exact, 0.01);
  EXPECT_LT(exact, 0.06);
}

TEST(Ranks, HolmCorrects) {
  const std::vector<double> corrected = holm(Values{0.04, 0.01, 0.03, 0.5});
  EXPECT_NEAR(corrected[1], 0.04, 1e-12);
  EXPECT_NEAR(corrected[2], 0.09, 1e-12);
  EXPECT_NEAR(corrected[0], 0.09, 1e-12);  // never below one that is smaller
  EXPECT_NEAR(corrected[3], 0.5, 1e-12);
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace fathom::analysis
