// SPDX-License-Identifier: MIT
// Two tallies of one recording into rates.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/live/activity.h"
#include "analysis/live/live_sums.h"
#include "analysis/live/tally.h"

namespace fathom::analysis {

// Sums at one moment, to be compared with later ones.
struct Moment {
  Tally tally;
  std::unordered_map<std::int32_t, Usage> usage;
};

// Adds the rows of `now`, with rates where `before` is older; nullptr: without rates.
void add_rates(const Tally& now, const Tally* before, const trace::Strings& names, Activity& to);

// CPUs that processes use: as layer resource tells it, else as their samples add up. `before` as
// above.
void add_usage(const Moment& now, const Moment* before, Activity& to);

}  // namespace fathom::analysis
