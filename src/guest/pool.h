// SPDX-License-Identifier: MIT
// Pools of segments, see pool.cc.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool make_first_pool();
bool allowed_size(size_t bytes);  // of a file, by RLIMIT_FSIZE
// In a forked child: memory of its own takes the pool's place, in which nothing can be claimed.
void leave_pool_of(const fathom_segment* segment);
void forget_makers();  // in a forked child: whoever was making a pool is not here
// Gives the cursor's segment away: full, or with room left for another thread.
void release_segment(Cursor& cursor, uint32_t state);

}  // namespace fathom::guest
