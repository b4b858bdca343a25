// SPDX-License-Identifier: MIT
// Two things must agree before a difference is claimed: a test that knows no distribution, and an
// interval that tells how large the difference is. Where n is too small for the test to reach 5 %,
// nothing is claimed, however different the values look.
#include "analysis/compare/trials.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/compare/ranks.h"
#include "analysis/compare/statistics.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostNeeded = 1'000'000;

double half_of(const Interval& interval) { return (interval.high - interval.low) / 2; }

// Sizes of sets repeat, and a distribution takes a while to make.
class RankTests {
 public:
  const RankTest& of(std::size_t first, std::size_t second) {
    const auto [place, is_new] = made_.try_emplace({first, second}, first, second);
    return place->second;
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, RankTest> made_;
};

// The least number of runs of each with which the test can reach 5 % after the correction:
// kLeastRuns for one.
std::size_t least_runs(double corrections) {
  double p = 2;  // 2 / C(2n, n), from n = 0 on
  std::size_t runs = 0;
  while (p * corrections >= kSignificant) {
    ++runs;
    const auto n = static_cast<double>(runs);
    p *= n / (2 * (2 * n - 1));
  }
  return runs;
}

// An interval gets narrower with the root of the number of runs.
std::size_t runs_that_would_do(const TrialComparison& comparison, std::size_t runs, double equal,
                               double corrections) {
  const std::size_t least = least_runs(corrections);
  if (runs < least) return least;
  if (!comparison.ratio) return 0;
  const double difference = std::fabs(comparison.ratio->value - 1);
  const double target = difference > equal ? difference : equal - difference;
  const double share = half_of(comparison.ratio->interval) / target;
  const double needed = std::ceil(static_cast<double>(runs) * share * share);
  if (!(needed < static_cast<double>(kMostNeeded))) return 0;
  return std::max(runs + 1, static_cast<std::size_t>(needed));
}

// An interval of fewer values than the test needs at least says nothing, however narrow it is.
Verdict verdict_of(const TrialComparison& comparison, std::size_t runs, double equal) {
  if (!comparison.ratio || runs < kLeastRuns) return Verdict::kCannotTell;
  const auto [low, high] = comparison.ratio->interval;
  if (low >= std::max(0.0, 1 - equal) && high <= 1 + equal) return Verdict::kSame;
  switch (side_of(comparison.ratio, comparison.p)) {
    case Side::kMore:
      return Verdict::kSlower;
    case Side::kLess:
      return Verdict::kFaster;
    case Side::kNeither:
      return Verdict::kCannotTell;
  }
  return Verdict::kCannotTell;
}

// Wall time is the question, and the others explain its answer: each family is corrected by itself.
void correct(std::vector<TrialComparison>& comparisons) {
  for (const bool of_wall : {true, false}) {
    std::vector<double> ps;
    for (const TrialComparison& one : comparisons) {
      if ((one.metric == kWall) == of_wall) ps.push_back(one.p);
    }
    const std::vector<double> corrected = holm(ps);
    std::size_t next = 0;
    for (TrialComparison& one : comparisons) {
      if ((one.metric == kWall) == of_wall) one.p = corrected[next++];
    }
  }
}

std::size_t family_size(const std::vector<TrialComparison>& all, const TrialComparison& one) {
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](const TrialComparison& other) {
    return (other.metric == kWall) == (one.metric == kWall);
  }));
}

}  // namespace

const Series* find_series(const Trials& trials, std::string_view metric) {
  const auto found = std::ranges::find(trials, metric, &Series::metric);
  return found == trials.end() || found->values.empty() ? nullptr : &*found;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kSame:
      return "same";
    case Verdict::kCannotTell:
      return "cannot tell";
  }
  return "";
}

std::vector<TrialComparison> compare_pairs(std::span<const TrialPair> pairs,
                                           const TrialOptions& options) {
  std::vector<TrialComparison> comparisons;
  RankTests tests;
  for (const TrialPair& pair : pairs) {
    Dice dice(options.seed);
    TrialComparison& comparison = comparisons.emplace_back();
    comparison.metric = pair.metric;
    comparison.ratio = ratio_of_medians(pair.base, pair.other, dice, options.resamples);
    comparison.p = tests.of(pair.base.size(), pair.other.size()).p(pair.base, pair.other);
  }
  correct(comparisons);
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    TrialComparison& one = comparisons[i];
    const std::size_t runs = std::min(pairs[i].base.size(), pairs[i].other.size());
    one.verdict = verdict_of(one, runs, options.equal);
    if (one.verdict != Verdict::kCannotTell) continue;
    const auto corrections = static_cast<double>(family_size(comparisons, one));
    one.needs = runs_that_would_do(one, runs, options.equal, corrections);
  }
  return comparisons;
}

std::vector<TrialComparison> compare_trials(std::span<const Trials> commands,
                                            const TrialOptions& options) {
  std::vector<TrialPair> pairs;
  std::vector<std::size_t> others;
  for (std::size_t other = 1; other < commands.size(); ++other) {
    for (const Series& base : commands[0]) {
      const Series* const values = find_series(commands[other], base.metric);
      if (values == nullptr || base.values.empty()) continue;
      pairs.push_back({base.metric, base.values, values->values});
      others.push_back(other);
    }
  }
  std::vector<TrialComparison> comparisons = compare_pairs(pairs, options);
  for (std::size_t i = 0; i < comparisons.size(); ++i) comparisons[i].other = others[i];
  return comparisons;
}

std::optional<double> half_width(std::span<const Trials> commands, const TrialOptions& options) {
  const Series* const base = commands.empty() ? nullptr : find_series(commands[0], kWall);
  if (base == nullptr) return std::nullopt;
  if (commands.size() == 1) {
    const Spread spread = spread_of(base->values);
    if (!(spread.median > 0)) return std::nullopt;
    return half_of(spread.interval) / spread.median;
  }
  double widest = 0;
  for (std::size_t other = 1; other < commands.size(); ++other) {
    const Series* const values = find_series(commands[other], kWall);
    if (values == nullptr) return std::nullopt;
    Dice dice(options.seed);
    const std::optional<Ratio> ratio =
        ratio_of_medians(base->values, values->values, dice, options.resamples);
    if (!ratio || !(ratio->value > 0)) return std::nullopt;
    widest = std::max(widest, half_of(ratio->interval) / ratio->value);
  }
  return widest;
}

NoiseFloor noise_floor(const Series& one, const Series& two, const TrialOptions& options) {
  NoiseFloor floor;
  Dice dice(options.seed);
  floor.ratio = ratio_of_medians(one.values, two.values, dice, options.resamples);
  if (floor.ratio)
    floor.detectable = std::max(floor.ratio->interval.high - 1, 1 - floor.ratio->interval.low);
  std::vector<Trials> halves(2, Trials{{std::string(kWall), {}}});
  for (const Series* const series : {&one, &two}) {
    for (std::size_t i = 0; i < series->values.size(); ++i)
      halves[2 * i < series->values.size() ? 0 : 1][0].values.push_back(series->values[i]);
  }
  const std::vector<TrialComparison> drift = compare_trials(halves, options);
  if (!drift.empty()) floor.drift = drift[0];
  return floor;
}

}  // namespace fathom::analysis
