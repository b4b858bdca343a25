// SPDX-License-Identifier: MIT
#include "analysis/compare/trials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analysis/compare/statistics.h"

namespace fathom::analysis {
namespace {

using Values = std::vector<double>;

Trials wall_of(Values values) { return {{std::string(kWall), std::move(values)}}; }

TrialComparison compared(Values base, Values other, TrialOptions options = {}) {
  const std::vector<Trials> commands = {wall_of(std::move(base)), wall_of(std::move(other))};
  return compare_trials(commands, options).at(0);
}

TEST(Trials, MuchSlowerAndMuchFaster) {
  const Values quick = {1.0, 1.1, 0.9, 1.0, 1.05}, slow = {2.0, 2.1, 1.9, 2.2, 2.0};
  EXPECT_EQ(compared(quick, slow).verdict, Verdict::kSlower);
  EXPECT_EQ(compared(slow, quick).verdict, Verdict::kFaster);
  EXPECT_NEAR(compared(quick, slow).ratio->value, 2, 1e-12);
  EXPECT_NEAR(compared(quick, slow).p, 2.0 / 252, 1e-12);
}

TEST(Trials, ThreeRunsCannotTell) {
  const TrialComparison comparison = compared({1, 1.01, 1.02}, {9, 9.1, 9.2});
  EXPECT_EQ(comparison.verdict, Verdict::kCannotTell);
  EXPECT_EQ(comparison.needs, 4U);
  // Nor that two are the same.
  EXPECT_EQ(compared({1}, {1}).verdict, Verdict::kCannotTell);
}

TEST(Trials, TheSameLiesWithinTheLimit) {
  const Values one = {1.000, 1.001, 1.002, 0.999, 1.001, 1.000};
  const Values two = {1.001, 1.002, 1.001, 1.000, 1.002, 1.001};
  EXPECT_EQ(compared(one, two).verdict, Verdict::kSame);
  const TrialComparison strict = compared(one, two, {.equal = 0.0001});
  EXPECT_NE(strict.verdict, Verdict::kSame);
}

TEST(Trials, AWideIntervalSaysHowManyRunsWouldDo) {
  const Values noisy = {1, 2, 3, 4, 5, 6}, other = {1.5, 2.5, 3, 4, 4.5, 6.5};
  const TrialComparison comparison = compared(noisy, other);
  EXPECT_EQ(comparison.verdict, Verdict::kCannotTell);
  EXPECT_GT(comparison.needs, 100U);
}

TEST(Trials, ABaseOfNothingHasNoRatio) {
  const TrialComparison comparison = compared({0, 0, 0, 0, 0}, {1, 1, 1, 1, 1});
  EXPECT_FALSE(comparison.ratio);
  EXPECT_EQ(comparison.verdict, Verdict::kCannotTell);
}

TEST(Trials, ManyCommandsAreCorrectedAndOtherMetricsToo) {
  const Values low = {1, 2, 3, 4}, high = {5, 6, 7, 8};
  const Trials base = {{"wall", low}, {"user", low}, {"max_rss", low}};
  const Trials slow = {{"wall", high}, {"user", high}, {"max_rss", high}};
  const std::vector<Trials> commands = {base, slow, slow};
  const std::vector<TrialComparison> all = compare_trials(commands, {});
  ASSERT_EQ(all.size(), 6U);
  for (const TrialComparison& one : all) {
    const double corrections = one.metric == kWall ? 2 : 4;
    EXPECT_NEAR(one.p, corrections * 2 / 70, 1e-12) << one.metric << one.other;
    EXPECT_EQ(one.verdict, Verdict::kCannotTell);
    EXPECT_GT(one.needs, 4U);
  }
}

TEST(Trials, AMetricThatOneSideLacksIsLeftOut) {
  const std::vector<Trials> commands = {{{"wall", {1, 2}}, {"cycles", {}}, {"user", {1}}},
                                        {{"wall", {1, 2}}, {"cycles", {1}}}};
  const std::vector<TrialComparison> all = compare_trials(commands, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].metric, "wall");
}

TEST(Trials, WidthsOfIntervals) {
  const std::vector<Trials> one = {wall_of({9, 10, 11})};
  EXPECT_NEAR(*half_width(one, {}), 0.1, 1e-12);
  const std::vector<Trials> two = {wall_of({10, 10, 10, 10}), wall_of({20, 20, 20, 20})};
  EXPECT_NEAR(*half_width(two, {}), 0, 1e-12);
  EXPECT_FALSE(half_width(std::vector<Trials>(), {}));
}

TEST(Trials, NoiseAndDriftOfAMachine) {
  const Series one{"wall", {1.00, 1.01, 1.02, 1.01, 2.00, 2.01, 2.02, 2.01}};
  const Series two{"wall", {1.01, 1.00, 1.02, 1.00, 2.01, 2.00, 2.02, 2.00}};
  const NoiseFloor floor = noise_floor(one, two, {});
  ASSERT_TRUE(floor.ratio);
  EXPECT_NEAR(floor.ratio->value, 1, 0.01);
  EXPECT_GT(floor.detectable, 0.3);  // half of the runs took twice as long
  EXPECT_EQ(floor.drift.verdict, Verdict::kSlower);
  EXPECT_NEAR(floor.drift.ratio->value, 2, 0.02);
}

// Times of a program as they are: a floor, a skewed scatter, now and then a straggler.
class Program {
 public:
  explicit Program(std::uint64_t seed) : dice_(seed) {}
  Values runs(std::size_t count, double seconds, double scatter) {
    Values values;
    for (std::size_t i = 0; i < count; ++i) {
      const double disturbed = dice_.below(20) == 0 ? 10 * scatter : 0;
      values.push_back(seconds * (1 + scatter * std::fabs(normal()) + disturbed));
    }
    return values;
  }

 private:
  double uniform() { return (static_cast<double>(dice_.below(1U << 30U)) + 0.5) / (1U << 30U); }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185 * uniform()); }
  Dice dice_;
};

// A program against itself: claims of a difference are at most as frequent as 5 % allows, of any
// number of runs, and whatever the limit of what counts as the same.
TEST(Trials, FalseAlarmsAreAsRareAsPromised) {
  constexpr int kComparisons = 1000;
  for (const std::size_t runs : {4U, 8U, 10U, 25U}) {
    Program program(runs);
    int alarms = 0;
    for (int i = 0; i < kComparisons; ++i) {
      const TrialComparison one = compared(program.runs(runs, 1, 0.02), program.runs(runs, 1, 0.02),
                                           {.equal = 0, .resamples = 200});
      alarms += one.verdict == Verdict::kFaster || one.verdict == Verdict::kSlower ? 1 : 0;
    }
    EXPECT_LE(alarms, kComparisons * kSignificant) << runs;
  }
}

TEST(Trials, ASlowdownOfTwoPercentIsFound) {
  constexpr int kComparisons = 200;
  Program program(7);
  int found = 0;
  for (int i = 0; i < kComparisons; ++i) {
    const TrialComparison one =
        compared(program.runs(30, 1, 0.01), program.runs(30, 1.02, 0.01), {.resamples = 500});
    found += one.verdict == Verdict::kSlower ? 1 : 0;
    EXPECT_NE(one.verdict, Verdict::kFaster);
  }
  EXPECT_GE(found, kComparisons * 95 / 100);
}

}  // namespace
}  // namespace fathom::analysis
