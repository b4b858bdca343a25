// SPDX-License-Identifier: MIT
// What of a daemon's settings can be done here.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/layer_plan.h"
#include "session/watch/watch_settings.h"

namespace fathom::session {

// Layers that processes can join which run already; others are an error where they are named.
Result<LayerPlan> plan_watch(const WatchOptions& options);

// Takes the layers that are wished for and can be recorded; returns why others cannot. Their
// functions are gone then.
std::vector<std::string> settle_wishes(WatchOptions& options);

// `detail` of the options, or every layer that can.
std::vector<std::string> detail_of(const WatchOptions& options, const LayerPlan& plan);

// Why settings cannot take the place of others while the daemon runs; nothing where they can.
Status may_replace(const WatchOptions& old, const WatchOptions& fresh);

}  // namespace fathom::session
