// SPDX-License-Identifier: MIT
// A store that shows only what a filter leaves: its views are covered by temporary ones of the same
// name, so that every report tells of the part alone.
#pragma once

#include <string>
#include <vector>

#include "analysis/report.h"
#include "analysis/row_filter.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Nothing happens where the filter lets all pass. Sums are made anew from the events that are left,
// which is a pass over them, and from calls that were added up (filtered_intervals.h); how calls
// moved through files only with `positions`, which takes a sort. Events, processes and threads that
// reach beyond --from and --to are cut there; an event keeps the time that is its own, whatever
// lies inside it and is left out. A condition is judged as somebody else's SQL. Gives, in
// sentences, what could not be told to be in the part.
Result<std::vector<std::string>> show_only(Store& store, const RowFilter& filter,
                                           bool positions = false);

// A view of what the filter leaves. Rules judge whole runs: of a part there is no advice, and the
// report says that it is one. The store shows the part from then on.
Result<Report> report_part(Store& store, const ViewDef& view, ViewOptions options,
                           const RowFilter& filter);

// The same of a store that shows the part already; `left_out` is what show_only() gave.
Result<Report> report_shown(Store& store, const ViewDef& view, ViewOptions options,
                            const RowFilter& filter, const std::vector<std::string>& left_out);

}  // namespace fathom::analysis
