// SPDX-License-Identifier: MIT
// Two runs, or two sets of repetitions of them, compared: what changed, whether that is more than
// noise, and which part of the change each layer, function, file or counter explains.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/run_sums.h"
#include "analysis/compare/statistics.h"
#include "analysis/report.h"
#include "base/result.h"

namespace fathom::analysis {

// Stands for a line's name: the threads' time that is not in recorded calls.
inline constexpr std::string_view kElsewhere = "(elsewhere)";
// The figure that the verdict is about.
inline constexpr std::string_view kWallTime = "wall time";

enum class Presence : std::uint8_t { kBoth, kNew, kGone };

// A line of the comparison.
struct Difference {
  GroupKey key;
  Presence presence = Presence::kBoth;
  Estimate value;  // self time of a group; a figure's or counter's own value
  std::optional<Estimate> calls;
  // Percent of the change of the threads' time. Nothing where that hardly changed or may be chance,
  // or where the time of this line is not part of it.
  std::optional<double> explains;
  Measure measure = Measure::kNone;
  std::string unit;  // of counters
};

struct Differences {
  std::string name;               // a grouping's, or "counter"
  std::vector<Difference> lines;  // most change first
};

// The whole answer, before anything is left out for people: reports and sentences are made of it.
struct Comparison {
  std::size_t before = 0;  // runs
  std::size_t after = 0;
  std::string before_command;  // of the first run
  std::string after_command;
  Estimate wall;
  Estimate thread_time;
  std::vector<Difference> figures;
  std::vector<Differences> groups;    // of every grouping, then counters
  std::vector<std::string> warnings;  // why the comparison may not be fair, as sentences

  // Whether there are enough runs to tell a change from noise.
  [[nodiscard]] bool tested() const { return before >= kLeastRuns && after >= kLeastRuns; }
  [[nodiscard]] const std::vector<Difference>& lines(std::string_view name) const;
};

// Neither side is empty.
[[nodiscard]] Comparison compare(std::span<const RunSums> before, std::span<const RunSums> after);

struct CompareOptions {
  std::vector<std::string> by;  // layer, name, file, counter, pid, category; empty: the first four
  std::int64_t top = 15;        // lines of each; 0: all
  double min_percent = 0;       // leaves out lines that changed by less
  bool for_people = false;      // leaves out columns that say nothing here
  bool sampled = false;         // both sides tell CPU work from waiting
  // Wall time counts as changed from this percentage on. Nothing: 5, and 0 where there are enough
  // runs for a test to decide.
  std::optional<double> threshold;
};

// A usage error for a name that --by does not take.
Status check_options(const CompareOptions& options);

// Whether wall time changed, by the rule above.
[[nodiscard]] bool wall_changed(const Comparison& comparison, const CompareOptions& options);

// Sentences and tables.
[[nodiscard]] Report compare_report(const Comparison& comparison, const CompareOptions& options);
[[nodiscard]] std::vector<std::string> compare_words(const Comparison& comparison,
                                                     const CompareOptions& options);

}  // namespace fathom::analysis
