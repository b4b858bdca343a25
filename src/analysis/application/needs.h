// SPDX-License-Identifier: MIT
// Typical and peak of each resource. Typical: what was used in all by the run's time, of memory and
// processes the median; peak: the most in any second, of memory and processes the largest sample.
#pragma once

#include <vector>

#include "analysis/application/profile.h"
#include "analysis/application/usage.h"

namespace fathom::analysis {

// In the order of profile.json. `run` has the wall time, and how it ended.
[[nodiscard]] std::vector<Need> needs_of(const Usage& usage, const ContainerRun& run);

// Of several runs: the median of what is typical, the largest peak.
[[nodiscard]] std::vector<Need> merged_needs(const std::vector<std::vector<Need>>& runs);

// All of them unknown, for this reason.
[[nodiscard]] std::vector<Need> unknown_needs(const std::string& reason);

// The amount of one of them; it must be there.
[[nodiscard]] const Amount& amount_of(const std::vector<Need>& needs, std::string_view name);

}  // namespace fathom::analysis
