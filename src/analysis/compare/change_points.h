// SPDX-License-Identifier: MIT
// When a history of measurements changed: one value for each record, oldest first, and the places
// from which on they are larger or smaller than before. docs/fleet-trends.md has the method, and
// how often it finds what is there and what is not.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/compare/statistics.h"
#include "analysis/compare/trials.h"

namespace fathom::analysis {

struct ChangePoint {
  std::size_t index = 0;  // of the first value after it
  // Where it may have been as well, since values scatter: first <= index <= last.
  std::size_t first = 0;
  std::size_t last = 0;
  // Of the values since the change before, by those up to the next one.
  Estimate estimate;
  double p = 1;  // of the rank test between these
};

struct ChangeOptions {
  double equal = 0.01;  // medians that differ by less are the same, as in TrialOptions
  // How rarely a history without a change may seem to have one. Stricter than for two sets that
  // somebody compares on purpose: histories are asked every night, and nobody waits for the answer.
  double significant = 0.01;
};

// With fewer values, none can be shown.
inline constexpr std::size_t kLeastHistory = 2 * kLeastRuns;
// Of a longer history, the last ones are asked: the time grows with the square of their number.
inline constexpr std::size_t kMostHistory = 2000;

// Change points of each metric, in order. Metrics are those of one program on one kind of machine:
// wall time is the question, and the others are corrected for how many they are. Values that are
// not finite must not occur.
[[nodiscard]] std::vector<std::vector<ChangePoint>> change_points(const Trials& history,
                                                                  const ChangeOptions& options);

}  // namespace fathom::analysis
