// SPDX-License-Identifier: MIT
// The result of `fathom stat`: as one object for programs, and as words and tables for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/trials.h"
#include "analysis/report.h"
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

// Every metric of the runs of each command. Of failed runs, too, if they are among them.
[[nodiscard]] std::vector<analysis::Trials> trials_of(
    const std::vector<std::vector<session::Measured>>& runs);

// As DESIGN section 5.3 fixes it.
[[nodiscard]] Value stat_object(const StatResult& result);

// `for_people`: values with their units, and comparisons that say something; else all of them as
// plain numbers.
[[nodiscard]] analysis::Report stat_report(const StatResult& result, bool for_people);

}  // namespace fathom::cli
