// SPDX-License-Identifier: MIT
// The call tree of every thread, and the regions that come again and again, in one pass.
#pragma once

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Tables `tree_nodes` (host, pid, tid, node, parent, depth, layer, name, calls, total, self; the
// same way has the same node in every thread) and `phase_times` (phase, calls, threads, total,
// median, p95, first, rest, trend).
Status make_tree(Store& store);

}  // namespace fathom::analysis
