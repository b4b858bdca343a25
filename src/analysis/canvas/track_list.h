// SPDX-License-Identifier: MIT
// The tracks of a recording in the order of drawing: those that events were found on, the counters,
// and the hosts, processes and threads that they belong to.
#pragma once

#include <span>
#include <vector>

#include "analysis/canvas/lane_book.h"
#include "analysis/canvas/track.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// `depths` are those of `made`.
Result<Tracks> list_tracks(Store& store, std::span<const MadeTrack> made,
                           std::span<const std::int64_t> depths);

}  // namespace fathom::analysis
