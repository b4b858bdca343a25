// SPDX-License-Identifier: MIT
// A recording in sentences: what ran, where its time went, and what is not in the recording.
#pragma once

#include <string>
#include <vector>

#include "analysis/store.h"
#include "analysis/view_tools.h"
#include "base/result.h"

namespace fathom::analysis {

// One sentence each. `time` is the account of all threads' time, with no rows where there is none.
// Reads sums alone; an Error is one of the store.
Result<std::vector<std::string>> words_about(Store& store, const TimeBase& base, const Table& time);

}  // namespace fathom::analysis
