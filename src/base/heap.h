// SPDX-License-Identifier: MIT
// Memory that was freed but that malloc keeps.
#pragma once

#include <cstddef>

namespace fathom {

// Gives it back to the system where it is more than `kept` bytes. For work that comes in large
// pieces with small ones between them: malloc's heap would grow with every piece. Does nothing
// where the C library cannot tell.
void trim_heap(std::size_t kept);

}  // namespace fathom
