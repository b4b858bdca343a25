// SPDX-License-Identifier: MIT
// How long devices worked, and what the host did while they did not.
#pragma once

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Table `gpu_idle_times`: host, device, cause (name_of(Idle)), layer, name (of the event that the
// thread was in), time, stretches, longest. The times of a device add up to that from the first to
// the last thing it did.
// For Store::ensure, as all passes here: on failure there is no table, and the Error is the
// store's.
Status make_gpu_idle(Store& store);

}  // namespace fathom::analysis
