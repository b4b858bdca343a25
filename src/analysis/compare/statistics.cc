// SPDX-License-Identifier: MIT
// The interval of a change is that of the ratio, times what there was before: both lie on the same
// side of no change.
#include "analysis/compare/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fathom::analysis {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool are_equal(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values[0]; });
}

// Drawing from sets of one value each always gives the same.
std::optional<Ratio> ratio_of(std::span<const double> before, std::span<const double> after,
                              std::size_t resamples) {
  if (are_equal(before) && are_equal(after)) resamples = 1;
  Dice dice(kSeed);
  return ratio_of_medians(before, after, dice, resamples);
}

}  // namespace

Side side_of(const std::optional<Ratio>& ratio, double p) {
  if (!ratio || p >= kSignificant) return Side::kNeither;
  if (ratio->interval.low > 1) return Side::kMore;
  return ratio->interval.high < 1 ? Side::kLess : Side::kNeither;
}

// From nothing to something has no ratio: the test alone decides.
bool Estimate::significant() const {
  if (!p) return false;
  return before > 0 ? side_of(ratio, *p) != Side::kNeither : *p < kSignificant;
}

std::optional<double> Estimate::low() const {
  if (!ratio) return std::nullopt;
  return before * (ratio->interval.low - 1);
}

std::optional<double> Estimate::high() const {
  if (!ratio) return std::nullopt;
  return before * (ratio->interval.high - 1);
}

std::optional<double> Estimate::percent() const {
  if (before == 0) return std::nullopt;
  return 100 * change / std::fabs(before);
}

double rounded_percent(double percent) {
  const double rounded = std::round(percent * 100) / 100;
  return rounded == 0 ? 0.0 : rounded;
}

std::string percent_text(const std::optional<double>& percent) {
  return percent ? fmt::format("{:+.1f} %", rounded_percent(*percent)) : "from nothing";
}

Estimate estimate(std::span<const double> before, std::span<const double> after,
                  const RankTest& test, std::size_t resamples) {
  Estimate estimate;
  estimate.before = median(before);
  estimate.after = median(after);
  estimate.change = estimate.after - estimate.before;
  estimate.mean_change = mean(after) - mean(before);
  if (std::min(before.size(), after.size()) < kLeastRuns) return estimate;
  estimate.p = test.p(before, after);
  estimate.ratio = ratio_of(before, after, resamples);
  return estimate;
}

}  // namespace fathom::analysis
