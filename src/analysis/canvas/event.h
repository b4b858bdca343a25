// SPDX-License-Identifier: MIT
// One event with everything that is known of it, and the arrows between events.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/canvas/canvas.h"
#include "analysis/row_filter.h"
#include "analysis/store.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

struct EventDetails {
  PlacedEvent event;
  Object fields;                      // the columns of `events` that have a value, by name
  std::vector<PlacedEvent> parents;   // the outermost first
  std::vector<PlacedEvent> partners;  // with the same correlation in its process
};
// `row` as boxes have it. kNotFound: the index has no such row.
Result<EventDetails> event_details(Store& store, const Canvas& canvas, std::int64_t row);

// An arrow from the call that asked for work to the work itself.
struct Flow {
  TrackId from_track = 0;
  std::int64_t from_t = 0;
  TrackId to_track = 0;
  std::int64_t to_t = 0;
};
struct Flows {
  std::vector<Flow> flows;
  std::int64_t left_out = 0;  // ends in the window of which nobody looked for the other
};
// Those that begin or end in the window, the other end within some seconds of it; where there are
// too many, the first. Between events that the filter leaves; its condition must have been judged.
Result<Flows> flows_in(Store& store, const Window& window, const RowFilter& filter = {});

}  // namespace fathom::analysis
