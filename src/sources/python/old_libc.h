// SPDX-License-Identifier: MIT
// Functions of libc by the version that they have had since glibc 2.17, so that the extension loads
// wherever the library does (tools/check_guest.py). Included once by each file that calls them.
#pragma once

#if defined(__x86_64__)
#define FATHOM_OLD_LIBC "GLIBC_2.2.5"
#else
#define FATHOM_OLD_LIBC "GLIBC_2.17"
#endif

#define FATHOM_AS_IN_OLD_LIBC(function) \
  __asm__(".symver " #function ", " #function "@" FATHOM_OLD_LIBC)
