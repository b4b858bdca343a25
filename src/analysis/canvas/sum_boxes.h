// SPDX-License-Identifier: MIT
// Calls that were added up over an interval instead of recorded one by one (kernel layers, heap):
// boxes as wide as their interval, a lane for each name. They are few, so the recording is asked each
// time.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/canvas/boxes.h"
#include "analysis/canvas/track.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// The last lane is for all further names.
inline constexpr std::size_t kMostSumLanes = 8;

// Adds boxes of these tracks (Track::sums), whose counts are calls. Bins may be wider than pixels
// where many tracks are asked for.
Status add_sum_boxes(Store& store, std::span<const Track* const> tracks, const Window& window,
                     std::int64_t width, Boxes& out);

}  // namespace fathom::analysis
