// SPDX-License-Identifier: MIT
// What `fathom doctor` looks at: the layers, and the things that recording rests on.
#pragma once

#include "base/table.h"

namespace fathom::cli {

// layer, state (available, unavailable, not built), reason, fix: a row for each layer of the
// design.
[[nodiscard]] Table layer_table();

// Whether applications can be run in containers: a row of the table below.
[[nodiscard]] std::vector<Value> container_fact();

// fact, state (ok, missing, broken, note), what was found, fix.
[[nodiscard]] Table machine_table();

}  // namespace fathom::cli
