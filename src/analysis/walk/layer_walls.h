// SPDX-License-Identifier: MIT
// For how long processes and threads were in each layer, with what overlaps counted once.
#pragma once

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Table `layer_walls`: scope (process, thread), host, pid, tid, layer, wall.
Status make_layer_walls(Store& store);

}  // namespace fathom::analysis
