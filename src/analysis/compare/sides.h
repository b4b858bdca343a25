// SPDX-License-Identifier: MIT
// The two sides of `fathom diff`, read run by run: one store is open at a time, its numbers stay.
#pragma once

#include <string>
#include <vector>

#include "analysis/compare/compare.h"
#include "analysis/compare/sampled_functions.h"
#include "analysis/report.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Runs and samples at the same place belong together.
struct ComparedSide {
  std::vector<RunSums> runs;
  std::vector<SampledRun> sampled;  // of each run
};

// `path` names the run in sentences.
Status add_run(ComparedSide& side, Store& store, const std::string& path);

struct SidesReport {
  Report report;
  bool wall_changed = false;
};

[[nodiscard]] SidesReport compare_sides(const ComparedSide& before, const ComparedSide& after,
                                        CompareOptions options);

}  // namespace fathom::analysis
