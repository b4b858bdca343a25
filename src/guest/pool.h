// SPDX-License-Identifier: MIT
// Pools of segments, see pool.cc.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool make_first_pool();
void make_spare_room();           // while pools can still be made: segments for later
bool allowed_size(size_t bytes);  // of a file, by RLIMIT_FSIZE
void forget_makers();             // in a forked child: whoever was making a pool is not here
// Gives the cursor's segment away: full, or with room left for another thread.
void release_segment(Cursor& cursor, uint32_t state);

}  // namespace fathom::guest
