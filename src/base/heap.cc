// SPDX-License-Identifier: MIT
#include "base/heap.h"

#include <malloc.h>

namespace fathom {

void trim_heap(std::size_t kept) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  if (mallinfo2().fordblks > kept) malloc_trim(0);
#else
  (void)kept;
#endif
}

}  // namespace fathom
