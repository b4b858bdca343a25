// SPDX-License-Identifier: MIT
// Tracks that a selection leaves. Whose they are is known of tracks; what is on them is not, but for
// their layer.
#pragma once

#include <vector>

#include "analysis/canvas/track.h"
#include "analysis/row_filter.h"

namespace fathom::analysis {

// By host, process and thread. What belongs to no thread is not a thread's.
[[nodiscard]] bool is_chosen(const Track& track, const RowFilter& filter);
// Those that are chosen, and those above them, in the same order.
[[nodiscard]] std::vector<Track> chosen_tracks(const std::vector<Track>& tracks,
                                               const RowFilter& filter);

}  // namespace fathom::analysis
