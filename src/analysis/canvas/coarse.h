// SPDX-License-Identifier: MIT
// What can be drawn before the index is made: when each layer of a host was busy, from the sums
// that a recording has of itself.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/canvas/boxes.h"
#include "analysis/canvas/track.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// A track for each host, and one for each of its layers below.
Result<Tracks> coarse_tracks(Store& store);
// A box for each stretch in which the layer had calls, named like it. `count` and `busy` are sums
// over all threads: more than the box is long where several were busy.
Result<Boxes> coarse_boxes(Store& store, const Window& window, std::int64_t width,
                           std::span<const TrackId> tracks);

}  // namespace fathom::analysis
