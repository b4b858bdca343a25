// SPDX-License-Identifier: MIT
// Why a comparison of two sets of runs may not be fair.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/compare/run_sums.h"

namespace fathom::analysis {

// Sentences; none where the runs are alike and whole.
[[nodiscard]] std::vector<std::string> unlike(std::span<const RunSums> before,
                                              std::span<const RunSums> after);

}  // namespace fathom::analysis
