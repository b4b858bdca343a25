// SPDX-License-Identifier: MIT
// The number of a name: names of events and functions are written to the spool once per process,
// and records have their numbers (docs/formats/spool.md).
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool prepare_names();
void forget_functions();  // a library was unloaded

}  // namespace fathom::guest
