// SPDX-License-Identifier: MIT
// The table of view `functions`, for the overview, which shows its first rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/store.h"
#include "base/table.h"

namespace fathom::analysis {

// Groups of the summary, most self time first: the columns of `by`, then self, share (of the
// threads' time), total, calls, mean, p50, p99, max, errors, bytes. `rows` 0 is all.
Result<Table> functions_table(Store& store, const std::vector<std::string>& by, std::int64_t rows);

}  // namespace fathom::analysis
