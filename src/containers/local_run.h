// SPDX-License-Identifier: MIT
// One run of a command of this machine, without an engine, stopped when its time is over or a
// signal says so. Probed ones are runs of `fathom run`. Plain ones are measured by a control group
// of their own; where none can be made, by `fathom run` with the layers of plain runs.
#pragma once

#include <string>

#include "base/result.h"
#include "containers/instructions.h"
#include "containers/one_run.h"
#include "session/layer_plan.h"
#include "session/signal_queue.h"

namespace fathom::containers {

struct LocalContext {
  const Instructions& wanted;
  session::SignalQueue& signals;
  std::string layers;              // as --layers of `fathom run`; "": its usual ones
  const session::LayerPlan& plan;  // of a run from outside
};

// kDenied: the program could not be started (refusal_status). Nothing is left behind then.
Result<OneEnding> run_local(const LocalContext& context, const OneRun& run);

}  // namespace fathom::containers
