// SPDX-License-Identifier: MIT
// Functions and loops of a recording, and what the application used while each of them ran.
#pragma once

#include <vector>

#include "analysis/application/profile.h"
#include "analysis/application/usage.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

struct CodeUses {
  std::vector<FunctionUse> functions;  // most own time first
  std::vector<LoopUse> loops;          // by file and line
};

// Functions are those of layers `python` and `app`. Cores and memory are the application's, of all
// its processes and threads, while the function was open; shorter calls than the time between two
// samples have the numbers of that time.
Result<CodeUses> code_uses(Store& store, const Usage& usage);

}  // namespace fathom::analysis
