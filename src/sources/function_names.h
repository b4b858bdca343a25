// SPDX-License-Identifier: MIT
// Names for functions that are known by their address alone (-finstrument-functions).
#pragma once

#include "trace/rows/definitions.h"

namespace fathom::sources {

// A resolver over the symbols of the files on this machine; "" for what has none. Copies share what
// was read; one thread at a time.
[[nodiscard]] trace::NameResolver function_names();

}  // namespace fathom::sources
