// SPDX-License-Identifier: MIT
// Where the pid of this process counts, and what the recorder calls it. A process of another pid
// namespace (a container, `unshare --pid`) cannot know that: it asks the recorder (broker.h).
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

uint64_t own_pid_namespace();  // its inode; 0: /proc does not tell
// Where the pid of this process counts (fathom_space), once the run's header is mapped.
uint32_t own_space();
// The same in a child: its parent has that number here only if both count in one namespace.
uint32_t space_of_child(int parent_pid);

// In another pid namespace than the run's: what the recorder calls this process and thread. Waits
// for a second at most, and not again where nobody answered.
FATHOM_COLD void learn_outer_numbers(Identity& one);

}  // namespace fathom::guest
