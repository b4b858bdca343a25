// SPDX-License-Identifier: MIT
// Whether job control, or somebody with SIGSTOP, has stopped a process.
#pragma once

#include <sys/types.h>

namespace fathom::session {

// Now, whatever an earlier report said.
[[nodiscard]] bool is_stopped(pid_t pid);

}  // namespace fathom::session
