// SPDX-License-Identifier: MIT
// What `fathom doctor` looks at: the layers, and the things that recording rests on.
#pragma once

#include "base/table.h"

namespace fathom::cli {

// layer, state (available, unavailable, not built), reason, fix: a row for each layer of the
// design.
[[nodiscard]] Table layer_table();

// fact, state (ok, missing, broken, note), what was found, fix.
[[nodiscard]] Table machine_table();

}  // namespace fathom::cli
