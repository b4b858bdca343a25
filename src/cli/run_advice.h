// SPDX-License-Identifier: MIT
// The first advice for the summary after a run, from the sums that the recorder has in memory.
#pragma once

#include <optional>

#include "analysis/insights/insights.h"
#include "session/run/run.h"

namespace fathom::cli {

// None where nothing could pay, where the rules found nothing that saves time, or where finding out
// fails or takes too long: a summary never waits for it. Call where no other thread runs.
std::optional<analysis::Insight> first_advice(const session::Ended& ended);

}  // namespace fathom::cli
