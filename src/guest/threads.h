// SPDX-License-Identifier: MIT
// What attach and fork need of the threads (runtime.cc).
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

void prepare_threads();
void forget_thread();  // in a forked child: this thread starts anew, its segments stay the parent's
void forget_other_threads();  // in a forked child

}  // namespace fathom::guest
