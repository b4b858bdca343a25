// SPDX-License-Identifier: MIT
// Notes below tables with shares by layer.
#pragma once

#include "base/table.h"

namespace fathom::analysis {

// Says, where it is so, that a call and what the kernel did for it both have a share.
void note_overlaps(Table& table);

}  // namespace fathom::analysis
