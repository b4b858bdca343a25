// SPDX-License-Identifier: MIT
// Which context was entered from within which stands in Python's own struct alone: no function of
// its interface tells. Hence a file that includes the headers of the interpreter's core, and
// nothing else.
#define Py_BUILD_CORE_MODULE 1
#include "sources/python/context.h"

#include <internal/pycore_context.h>

bool context_is_entered(const void* context, const void* now) {
  if (context == NULL || context == now) return true;
  const PyContext* one = now;
  while (one != NULL && one != context) one = one->ctx_prev;
  return one != NULL;
}
