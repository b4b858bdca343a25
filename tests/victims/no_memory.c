// SPDX-License-Identifier: MIT
// Preloaded into the recorder: the thread that reads the kernel's rings, known by the priority that
// it asks for, gets no memory after its first allocations.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

extern void* __libc_malloc(size_t size);

enum { RECORDERS = -10, ENOUGH = 2000 };
static __thread int left = -1;  // allocations; -1: it is another thread

int setpriority(__priority_which_t which, id_t who, int priority) {
  int (*original)(__priority_which_t, id_t, int) =
      (int (*)(__priority_which_t, id_t, int))dlsym(RTLD_NEXT, "setpriority");
  if (priority == RECORDERS) left = ENOUGH;
  return original(which, who, priority);
}

void* malloc(size_t size) {
  if (left > 0) left--;
  if (left != 0) return __libc_malloc(size);
  errno = ENOMEM;
  return NULL;
}
