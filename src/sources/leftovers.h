// SPDX-License-Identifier: MIT
// What a killed recorder or an unsupervised run left in the spool.
#pragma once

#include <string>

#include "trace/definitions.h"

namespace fathom::sources {

// Packs it, where we may. What cannot be packed (a full disk, a damaged spool) is not told here: it
// is still read from where it is.
void pack_leftovers(const std::string& path, const trace::NameResolver& resolver);

}  // namespace fathom::sources
