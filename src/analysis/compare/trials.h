// SPDX-License-Identifier: MIT
// Repeated runs of several commands compared with the first one: how much slower or faster each is,
// and whether that can be said. The counterpart of compare.h for runs that were measured and not
// recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/spread.h"
#include "analysis/compare/statistics.h"

namespace fathom::analysis {

// The metric that verdicts of a whole comparison are about.
inline constexpr std::string_view kWall = "wall";

// One metric of one command, over all its runs in which it was measured.
struct Series {
  std::string metric;
  std::vector<double> values;
};
using Trials = std::vector<Series>;  // of one command

[[nodiscard]] const Series* find_series(const Trials& trials, std::string_view metric);

enum class Verdict : std::uint8_t { kFaster, kSlower, kSame, kCannotTell };
// "faster", "slower", "same", "cannot tell".
[[nodiscard]] std::string_view name_of(Verdict verdict);

// One metric of one command against the first command's. Commands are numbered as they were given.
struct TrialComparison {
  std::size_t base = 0;
  std::size_t other = 0;
  std::string metric;
  // Of medians, other by base; none where the base is 0.
  std::optional<Ratio> ratio;
  double p = 1;  // exact, corrected for how many commands (and metrics beside wall) are compared
  Verdict verdict = Verdict::kCannotTell;  // about `other`; of metrics where less is better
  // Runs of each command that would probably do; 0: nobody knows, or it can be told.
  std::size_t needs = 0;
};

struct TrialOptions {
  double equal = 0.01;  // two commands whose ratio lies this near to 1 are the same
  std::uint64_t seed = kSeed;
  std::size_t resamples = kResamples;
};

// Same: the interval of the ratio lies within `equal` of 1. Faster, slower: it lies beyond 1, and p
// is below 5 %. Anything else cannot be told. Each command is compared with the first, by every
// metric that both have.
[[nodiscard]] std::vector<TrialComparison> compare_trials(std::span<const Trials> commands,
                                                          const TrialOptions& options);

// Two sets of one metric, neither of them empty.
struct TrialPair {
  std::string metric;
  std::span<const double> base;
  std::span<const double> other;
};
// The same rule for pairs of any kind, which are corrected together: those of wall time, and all
// others. In the order of `pairs`.
[[nodiscard]] std::vector<TrialComparison> compare_pairs(std::span<const TrialPair> pairs,
                                                         const TrialOptions& options);

// Half the width of the widest interval of wall time, as a share of its middle: of each command's
// ratio to the first one, or of the median where there is one command. None: not known yet.
[[nodiscard]] std::optional<double> half_width(std::span<const Trials> commands,
                                               const TrialOptions& options);

// What a command against itself shows of the machine: `one` and `two` are wall times of the same
// command that took turns.
struct NoiseFloor {
  std::optional<Ratio> ratio;  // 1, if there were no noise
  double detectable = 0;       // share by which a command must differ to be seen with as many runs
  TrialComparison drift;       // the second half of all runs by the first
};
[[nodiscard]] NoiseFloor noise_floor(const Series& one, const Series& two,
                                     const TrialOptions& options);

}  // namespace fathom::analysis
