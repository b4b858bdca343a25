// SPDX-License-Identifier: MIT
// A set of measurements by its order: median, interval, outliers. Times of programs are skewed and
// have stragglers, which means and standard deviations take for the rule.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/dice.h"

namespace fathom::analysis {

// 0 to 1 of the way through the sorted values, which are not empty, between two of them in
// proportion.
[[nodiscard]] double quantile(std::span<const double> sorted, double share);
[[nodiscard]] double median(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

struct Spread {
  std::size_t count = 0;
  double median = 0;
  double mean = 0;
  double stddev = 0;  // of a sample; 0 where there is one value
  double min = 0;
  double max = 0;
  // Holds the true median with at least 95 % confidence, whatever the distribution; all values
  // where they are too few for that (below 6).
  Interval interval;
  // Places of values that lie far from the others: beyond Tukey's fences (1.5 quartile distances),
  // and by more than 1 % of the median, since counts that are all but one the same have no
  // distance.
  std::vector<std::size_t> outliers;
};
// Not empty.
[[nodiscard]] Spread spread_of(std::span<const double> values);

// The median of `other` by that of `base`, and where the true ratio lies with 95 % confidence: by
// drawing both sets anew from themselves (bootstrap).
struct Ratio {
  double value = 0;
  Interval interval;
};
inline constexpr std::size_t kResamples = 10'000;
// None where the median of `base` is not above 0. Neither set is empty.
[[nodiscard]] std::optional<Ratio> ratio_of_medians(std::span<const double> base,
                                                    std::span<const double> other, Dice& dice,
                                                    std::size_t resamples = kResamples);

}  // namespace fathom::analysis
