// SPDX-License-Identifier: MIT
// The rows of a store that a filter leaves, for those who look at no sums: the first half of
// filtered_views.h, which takes no pass over events.
#pragma once

#include <string>
#include <vector>

#include "analysis/row_filter.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Covers events, samples, counters, intervals, processes and threads. Gives, in sentences, what
// could not be told to be in the part.
Result<std::vector<std::string>> show_rows(Store& store, const RowFilter& filter);

// kInvalid or kUsage for what is no condition on events, or more than that. Ask a store that shows
// all events and that nobody else has asked.
Status judge_condition(Store& store, const std::string& condition);

}  // namespace fathom::analysis
