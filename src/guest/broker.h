// SPDX-License-Identifier: MIT
// What the recorder hands to a process of its run that may not open the spool itself
// (wire/broker.h). Each question waits a second at most and leaves no descriptor but the one that
// it gives back.
#pragma once

#include <stdint.h>

namespace fathom::guest {

bool is_out_of_reach(long error);  // what an attempt of our own to open something failed with
bool has_broker();

// A descriptor of the run's header, for reading, or -1. The schema goes to the spool where it has
// none.
int brokered_run_header();
// A descriptor of a new pool, whose room is booked and there, or -1.
int brokered_pool(uint32_t segments, uint32_t serial);

// What the recorder's pid namespace calls this process and, where `tid` is not 0, this thread.
struct Numbers {
  uint32_t pid, tid;  // 0: not known
};
Numbers brokered_numbers(int tid);

}  // namespace fathom::guest
