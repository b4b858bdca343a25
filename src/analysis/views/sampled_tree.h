// SPDX-License-Identifier: MIT
// The call tree as samples show it: `tree` where layer cpu alone is looked at.
#pragma once

#include "analysis/report.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// The tree, and the paths that took most time themselves. Time off the CPU is not in it.
Result<Report> sampled_tree(Store& store, const ViewOptions& options);

}  // namespace fathom::analysis
