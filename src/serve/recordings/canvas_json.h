// SPDX-License-Identifier: MIT
// What pictures need, as JSON: arrays of columns, which are short and quick to read.
#pragma once

#include <optional>
#include <string>

#include "analysis/canvas/boxes.h"
#include "analysis/canvas/event.h"
#include "analysis/canvas/flame.h"
#include "analysis/canvas/maps.h"

namespace fathom::serve {

// What an answer says of itself, beside what was asked for.
struct CanvasNotes {
  std::optional<double> building;                        // the index is being made
  const std::vector<analysis::CanvasLoss>* losses = {};  // what is in no box
};

[[nodiscard]] std::string tracks_json(const std::vector<analysis::Track>& tracks,
                                      const CanvasNotes& notes);
[[nodiscard]] std::string timeline_json(const analysis::Boxes& boxes,
                                        const std::vector<analysis::CounterLine>& counters,
                                        const analysis::Flows* flows, const CanvasNotes& notes);
[[nodiscard]] std::string event_json(const analysis::EventDetails& event);
// `with_start`: when each was first seen, too.
[[nodiscard]] std::string flame_json(const analysis::Flame& flame, bool with_start);
[[nodiscard]] std::string heat_json(const analysis::HeatMap& map);
[[nodiscard]] std::string offsets_json(const analysis::OffsetMap& map);

}  // namespace fathom::serve
