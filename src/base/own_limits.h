// SPDX-License-Identifier: MIT
// Limits that a caller set for the program and that would end the command itself. Nothing that a
// program inherits is changed for good.
#pragma once

#include <functional>

namespace fathom {

// From now on a write beyond the file size limit (ulimit -f) fails with EFBIG, and ends nobody.
void ignore_size_signal();
// In a child, before exec: as it was.
void restore_size_signal();

// Calls `body`, with room for it also where the stack is limited to a few pages (ulimit -s);
// threads that are started from then on have that room, too. Once per process, from its first
// thread.
int on_roomy_stack(const std::function<int()>& body);

}  // namespace fathom
