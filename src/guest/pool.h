// SPDX-License-Identifier: MIT
// Pools of segments, see pool.cc.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool make_first_pool();    // or joins the run's newest
void learn_newest_pool();  // before a fork: so that the child need not
void make_spare_room();    // while pools can still be made: segments for later
void forget_makers();      // in a forked child: whoever was making a pool is not here
// In a forked child: memory of its own takes the pool's place, in which nothing can be claimed.
void leave_pool_of(const fathom_segment* segment);
// The claim of a segment that this one writes.
inline uint64_t owned_by(const Identity& owner) {
  return fathom_claim(FATHOM_SEGMENT_OWNED, static_cast<uint32_t>(owner.pid), owner.space);
}
// What tls.cursor writes from now on belongs to the thread as tls.thread names it.
void write_switch(unsigned cursor_number);
// Gives the cursor's segment away: full, or with room left for another thread. To a successor
// first, who is a pid.
void release_segment(Cursor& cursor, uint32_t state, int successor = 0);
// Takes it again if nobody has been there since we left it with so many bytes.
bool reclaim_segment(fathom_segment* segment, uint32_t generation, uint64_t used);

}  // namespace fathom::guest
