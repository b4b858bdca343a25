// SPDX-License-Identifier: MIT
// malloc keeps freed pages, and a recorder that packs for hours would look as if it leaked.
// mallinfo2 tells how much is idle; older C libraries cannot tell and are left alone.
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
