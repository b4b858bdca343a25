// SPDX-License-Identifier: MIT
// What attach and fork need of the threads (runtime.cc).
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

void prepare_threads();
// In a forked child: this thread writes into segments of its own; what it has open stays open.
void inherit_thread();
void forget_other_threads();  // in a forked child
void make_spare_threads();    // blocks for threads that begin when no memory can be had
bool others_are_calling();    // whether another thread is inside a system call of ours

}  // namespace fathom::guest
