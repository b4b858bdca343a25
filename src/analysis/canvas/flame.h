// SPDX-License-Identifier: MIT
// Trees for flame graphs, by any weight. Memory grows with distinct stacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

struct FlameOptions {
  std::string weight = "time";  // time, calls, bytes, cpu, offcpu, or the name of a sampled event
  bool invert = false;          // callers below the functions that they called
  double least = 0.001;  // of the total: what is smaller becomes one node "(N smaller)" each level
};

// Nodes by column; parents stand before their children. The first is the root.
struct Flame {
  std::string weight;
  std::string unit;  // ns, bytes, calls, or the event's name
  std::int64_t total = 0;
  std::vector<std::string> names;
  std::vector<std::int32_t> parent;  // -1: the root
  std::vector<std::uint32_t> name;
  std::vector<std::uint32_t> layer;  // of a frame of a sample, its module
  std::vector<std::int64_t> self, totals, calls;
  std::vector<std::int64_t> start;  // order=time alone: when it was first seen
};

// Of what the store shows: a filter (filtered_views.h) leaves a part. kNotFound, with a hint, where
// nothing has that weight.
Result<Flame> flame_of(Store& store, const FlameOptions& options);

}  // namespace fathom::analysis
