// SPDX-License-Identifier: MIT
// Whether two sets of measurements differ, and by how much: one answer for recordings (compare.h)
// and for runs that were only measured (trials.h). A difference counts if two things agree: the
// rank test, and the interval of the ratio of the medians.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "analysis/compare/ranks.h"
#include "analysis/compare/spread.h"

namespace fathom::analysis {

// Of the 95 % in every confidence interval; a smaller p is significant.
inline constexpr double kSignificant = 0.05;
// Of each set: with fewer, no two sets can be so different that the rank test reaches 5 %.
inline constexpr std::size_t kLeastRuns = 4;
// Draws begin with this, unless somebody chooses.
inline constexpr std::uint64_t kSeed = 1;

// Both agree that the second set is larger, or smaller. No ratio: there is nothing to compare by.
enum class Side : std::uint8_t { kLess, kMore, kNeither };
[[nodiscard]] Side side_of(const std::optional<Ratio>& ratio, double p);

// Two sets of measurements, compared. What needs a test is empty where there are too few values for
// one: nobody shall read a change out of two runs.
struct Estimate {
  double before = 0;  // medians
  double after = 0;
  double change = 0;
  double mean_change = 0;  // of parts of a whole, these add up
  // Nothing below where a set has fewer values than kLeastRuns.
  std::optional<double> p;
  // None where the median before is not above 0, too.
  std::optional<Ratio> ratio;

  [[nodiscard]] bool significant() const;
  // Of the change, with 95 % confidence.
  [[nodiscard]] std::optional<double> low() const;
  [[nodiscard]] std::optional<double> high() const;
  // NULL in tables: nothing was there before.
  [[nodiscard]] std::optional<double> percent() const;
};

// A percentage as tables hold it. Sentences round it from there on, as tables do when they are
// shown: both then have the same digits.
[[nodiscard]] double rounded_percent(double percent);
// "+12.3 %", or that nothing was there before.
[[nodiscard]] std::string percent_text(const std::optional<double>& percent);

// Neither set is empty; `test` is for sets of their sizes.
[[nodiscard]] Estimate estimate(std::span<const double> before, std::span<const double> after,
                                const RankTest& test, std::size_t resamples = kResamples);

}  // namespace fathom::analysis
