// SPDX-License-Identifier: MIT
// Tables that the overview shares with the views of their own name. `rows` 0 is all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "analysis/store.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

// Whether layer cpu tells what threads did.
Result<bool> is_accounted(Store& store);
// All rows of view `time`, which add up to all threads' lives; none where layer cpu recorded
// nothing.
Result<Table> time_table(Store& store);
// Leaves the first of them, and the last one.
void keep_top(Table& time, std::int64_t rows);

// Files by time: the columns of `by`, file, time, share, calls, bytes read and written, and what a
// read and a write moved on average.
Result<Table> files_table(Store& store, const std::vector<std::string>& by, std::int64_t rows);

// Self and total time, calls, errors, bytes of each layer that recorded something, and the time
// outside all of them, unless the account of all threads' time tells of that.
Result<Table> layer_time_table(Store& store);
// layer, state, reason, events: every layer that exists.
Result<Table> layers_table(Store& store);
Result<Table> losses_table(Store& store);

Result<Table> processes_table(Store& store, std::int64_t rows);
Result<Table> threads_table(Store& store, std::int64_t rows);
// How evenly time and bytes are spread over ranks, or over processes where there are none.
Result<std::vector<Section>> imbalance_sections(Store& store);

// Bars: the columns of `by`, lower bound of a power of two, calls. `where` filters the summary.
struct HistogramRequest {
  std::string column;  // of the summary: hist or sizes
  Measure measure;
  std::vector<std::string> by;
  std::string where;
};
Result<Table> histogram_table(Store& store, const HistogramRequest& request);
// The columns of `by`, calls, p50, p95, p99, as far as powers of two tell.
Result<Table> percentiles_table(Store& store, const HistogramRequest& request);

// Lines over time; each with a table of its own, for units differ. Tables without rows are left
// out.
Result<std::vector<Section>> resource_sections(Store& store, bool all);
Result<Section> timeline_section(Store& store);

}  // namespace fathom::analysis
