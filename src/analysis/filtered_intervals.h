// SPDX-License-Identifier: MIT
// Calls that were added up, in a part of a run: a row is in it when its interval lies in the time.
#pragma once

#include <string>
#include <vector>

#include "analysis/row_filter.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Covers the view `intervals`, and makes `summed_intervals`, with a category: the rows that sums of
// the part have to count, since no events stand for them. Of the part's condition a sum can only
// answer what it is a sum of (host, pid, tid, layer, name, category, file). Gives, in sentences,
// what had to be left out.
Result<std::vector<std::string>> show_intervals(Store& store, const RowFilter& filter);

}  // namespace fathom::analysis
