// SPDX-License-Identifier: MIT
// What each thread of a training did, in one pass over its regions.
#pragma once

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Table `training_tasks`, a row for each thread with a phase: host, pid, tid, trains (it does more
// than load, save and compile), time, busy, steps, longest, data, forward, backward, optimizer,
// checkpoint, compile. What phases cover together counts once; what lies in another phase counts as
// the outer one, but for compilation.
// Table `training_steps`: host, pid, dur; all up to 200 000 of them, a sample of more.
Status make_training(Store& store);

}  // namespace fathom::analysis
