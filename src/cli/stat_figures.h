// SPDX-License-Identifier: MIT
// What `fathom stat` measured, as metrics with names, and what its two ways of telling share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/trials.h"
#include "base/table.h"
#include "session/stat/stat.h"

namespace fathom::cli {

struct StatResult {
  std::vector<std::vector<std::string>> commands;
  std::vector<std::string> labels;
  session::StatOutcome outcome;
  std::vector<analysis::Trials> trials;  // by command
  std::vector<analysis::TrialComparison> comparison;
  std::optional<analysis::NoiseFloor> noise_floor;  // of --noise
  std::uint64_t seed = 0;
  bool asked = true;  // somebody named the events; else those that are not to be had are no rows
};

// A figure of a run besides its events: the name in JSON, the unit, the value.
struct StatFigure {
  std::string_view name;
  std::string_view unit;
  std::optional<double> (*value)(const session::Measured& run);
};
[[nodiscard]] std::span<const StatFigure> stat_figures();

// Every metric of the runs of each command. Of failed runs, too, if they are among them.
[[nodiscard]] std::vector<analysis::Trials> trials_of(
    const std::vector<std::vector<session::Measured>>& runs);

// "" where it is a plain number.
[[nodiscard]] std::string_view unit_of(const StatResult& result, std::string_view metric);

// How often a run moved from one CPU to another, on average; none: that was not counted.
[[nodiscard]] std::optional<double> migrations_of(const StatResult& result);

// What made times differ though the program is the same.
[[nodiscard]] std::vector<std::string> noise_sentences(const StatResult& result);

// Whole numbers are written as such.
[[nodiscard]] Value number_cell(const std::optional<double>& value);
[[nodiscard]] Value text_or_null(const std::string& text);

}  // namespace fathom::cli
