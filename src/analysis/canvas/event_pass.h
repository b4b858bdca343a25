// SPDX-License-Identifier: MIT
// The passes that fill an index: all events, and the samples of threads.
#pragma once

#include "analysis/canvas/canvas.h"
#include "analysis/canvas/kinds.h"
#include "analysis/canvas/lane_book.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// What the passes fill.
struct CanvasRows {
  LaneBook book;
  Kinds kinds;
};

// Files hold the events of a thread in the order of time, but for those that were open when a file
// was full, which have their depth for themselves. Where much is out of order (an import), the
// database sorts.
Status read_events(Store& store, CanvasRows& rows, const CanvasProgress& progress);
// Functions that were sampled one after the other, as boxes by depth; and stretches off the CPU.
Status read_samples(Store& store, CanvasRows& rows, const CanvasProgress& progress);

}  // namespace fathom::analysis
