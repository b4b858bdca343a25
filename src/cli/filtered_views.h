// SPDX-License-Identifier: MIT
// A store that shows only what a filter leaves: its views are covered by temporary ones of the same
// name, so that every report tells of the part alone.
#pragma once

#include "analysis/store.h"
#include "base/result.h"
#include "cli/store_stream.h"

namespace fathom::cli {

// Nothing happens where the filter lets all pass. Sums are made anew from the events that are left:
// a pass over them.
Status show_only(analysis::Store& store, const RowFilter& filter);

}  // namespace fathom::cli
