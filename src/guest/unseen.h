// SPDX-License-Identifier: MIT
// What a process does that passes no hook. tell_unseen, for sources, stands in runtime.h.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

// Go makes system calls itself, by instructions that nobody can stand in for.
bool is_go_program();
// What the kernel counted until now, and libraries that hand over requests.
void tell_unseen_at_end();

}  // namespace fathom::guest
