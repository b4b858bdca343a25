// SPDX-License-Identifier: MIT
// Trees for flame graphs, by any weight. Memory grows with distinct stacks, and has a bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/canvas/canvas.h"
#include "analysis/row_filter.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

struct FlameOptions {
  // time, calls, bytes; cpu, offcpu, or the name of a sampled event; region:EVENT, an event that
  // was counted on regions
  std::string weight = "time";
  bool invert = false;  // callers below the functions that they called
  // A node for each stretch of time, as flame_stretches.h has it. Not with `invert`.
  bool in_time = false;
  double least =
      0.001;  // of the total: smaller ones become a node "(N smaller)" below their caller
};

// Nodes by column; parents stand before their children. The first is the root, of all.
struct Flame {
  std::string weight;
  std::string unit;  // ns, bytes, calls, or the event's name
  std::int64_t total = 0;
  std::vector<std::string> names;
  std::vector<std::int32_t> parent;  // -1: the root
  std::vector<std::uint32_t> name;
  std::vector<std::uint32_t> layer;  // of a sampled function, its module
  std::vector<std::int64_t> self, totals, calls;
  std::vector<std::int64_t> start;  // when it was first seen; of a stretch, when it began
  std::int64_t left_out = 0;  // calls and samples whose stacks are told by their callers alone
};

// Whether the weight is that of calls: these are in the canvas.
[[nodiscard]] bool is_flame_of_calls(const std::string& weight);
// Whether it is an event that regions counted. What is neither is in samples.
[[nodiscard]] bool is_flame_of_regions(const std::string& weight);

// Of calls that touch the window, cut to it, and that the filter leaves: time, hosts, processes,
// threads, layers. Its names and condition must be those that the canvas was made with (show_rows
// of shown_rows.h): an index does not know the columns of its events. What the filter leaves
// out is no call at all: its time is that of the call around it. `progress` may end it
// (kUnavailable).
Result<Flame> flame_of_calls(const Canvas& canvas, const FlameOptions& options,
                             const RowFilter& filter, const CanvasProgress& progress = {});
// Of the samples that the store shows (filtered_views.h leaves a part). kNotFound, with a hint,
// where nothing has that weight.
Result<Flame> flame_of_samples(Store& store, const FlameOptions& options);
// The same of regions with such a count, each less what the regions inside it counted. A count has
// no time: of a region that the filter cuts, all of it is shown.
Result<Flame> flame_of_regions(Store& store, const FlameOptions& options);

}  // namespace fathom::analysis
