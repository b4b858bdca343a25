// SPDX-License-Identifier: MIT
#include "analysis/compare/statistics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "analysis/compare/trials.h"

namespace fathom::analysis {
namespace {

Estimate estimated(const std::vector<double>& before, const std::vector<double>& after) {
  return estimate(before, after, RankTest(before.size(), after.size()));
}

TEST(Statistics, FewerRunsThanTheLeastCannotReachFivePercent) {
  EXPECT_LT(RankTest(kLeastRuns, kLeastRuns).smallest_p(), kSignificant);
  EXPECT_GE(RankTest(kLeastRuns - 1, kLeastRuns - 1).smallest_p(), kSignificant);
}

TEST(Statistics, ChangeIsThatOfTheMedians) {
  const Estimate told = estimated({10, 11, 12, 13, 99}, {20, 21, 22, 23, 24});
  EXPECT_EQ(told.before, 12);
  EXPECT_EQ(told.after, 22);
  EXPECT_EQ(told.change, 10);
  EXPECT_EQ(told.mean_change, 22 - 29);  // the straggler counts where parts add up
  EXPECT_NEAR(*told.percent(), 1000.0 / 12, 1e-9);
}

TEST(Statistics, IntervalAndTestAgree) {
  const Estimate apart = estimated({10, 11, 12, 13, 14}, {20, 21, 22, 23, 24});
  EXPECT_NEAR(*apart.p, 2.0 / 252, 1e-12);
  EXPECT_TRUE(apart.significant());
  EXPECT_GT(*apart.low(), 0);
  EXPECT_LE(*apart.low(), apart.change);
  EXPECT_GE(*apart.high(), apart.change);
  const Estimate back = estimated({20, 21, 22, 23, 24}, {10, 11, 12, 13, 14});
  EXPECT_TRUE(back.significant());
  EXPECT_LT(*back.high(), 0);
  const Estimate mixed = estimated({10, 20, 30, 40, 50}, {12, 22, 28, 42, 55});
  EXPECT_FALSE(mixed.significant());
  EXPECT_LT(*mixed.low(), 0);
  EXPECT_GT(*mixed.high(), 0);
}

// `fathom diff` and `fathom stat` of the same numbers say the same.
TEST(Statistics, RecordingsAndTrialsHaveOneAnswer) {
  const std::vector<std::vector<double>> sets = {{1.00, 1.01, 1.02, 1.03, 1.05},
                                                 {1.01, 1.04, 1.06, 1.07, 1.09},
                                                 {1.05, 1.06, 1.08, 1.1, 1.2},
                                                 {0.90, 1.00, 1.10, 1.20, 1.30},
                                                 {2.00, 2.10, 2.20, 2.30, 2.40}};
  for (const std::vector<double>& before : sets) {
    for (const std::vector<double>& after : sets) {
      const Estimate told = estimated(before, after);
      const std::vector<Trials> trials = {{{std::string(kWall), before}},
                                          {{std::string(kWall), after}}};
      const TrialComparison verdict = compare_trials(trials, {.equal = 0, .seed = kSeed}).front();
      EXPECT_EQ(verdict.p, *told.p);
      EXPECT_EQ(verdict.ratio->interval.low, told.ratio->interval.low);
      const bool claims =
          verdict.verdict == Verdict::kSlower || verdict.verdict == Verdict::kFaster;
      EXPECT_EQ(claims, told.significant());
    }
  }
}

TEST(Statistics, FewRunsTellNothingOfScatter) {
  const Estimate told = estimated({10}, {20, 22});
  EXPECT_EQ(told.change, 11);
  EXPECT_FALSE(told.p || told.low() || told.high());
  EXPECT_FALSE(told.significant());
  EXPECT_NEAR(*told.percent(), 110, 1e-12);
  EXPECT_FALSE(estimated({1, 1, 1}, {9, 9, 9}).p);
}

TEST(Statistics, ValuesWithoutScatter) {
  EXPECT_EQ(*estimated({3, 3, 3, 3}, {3, 3, 3, 3}).p, 1);
  const Estimate told = estimated({3, 3, 3, 3}, {4, 4, 4, 4});
  EXPECT_TRUE(told.significant());
  EXPECT_NEAR(*told.low(), 1, 1e-12);
  EXPECT_NEAR(*told.high(), 1, 1e-12);
}

// 203.5494 and 203.5496 are 203.55 in a table, which is shown with one digit less.
TEST(Statistics, SentencesRoundAPercentageAsTablesDo) {
  for (const double percent : {203.5494, 203.5496, 203.5499, 54.449, -12.3456, 0.0}) {
    EXPECT_EQ(percent_text(percent), fmt::format("{:+.1f} %", rounded_percent(percent)));
    EXPECT_NEAR(rounded_percent(percent), percent, 0.005);
  }
  EXPECT_EQ(rounded_percent(203.5496), 203.55);
  EXPECT_EQ(percent_text(203.5499), "+203.6 %");
  EXPECT_EQ(percent_text(-0.001), "+0.0 %");
  EXPECT_EQ(percent_text(std::nullopt), "from nothing");
}

TEST(Statistics, FromNothingToSomething) {
  const Estimate told = estimated({0, 0, 0, 0}, {1, 2, 1, 2});
  EXPECT_FALSE(told.percent() || told.low());
  EXPECT_TRUE(told.significant());
}

}  // namespace
}  // namespace fathom::analysis
