// SPDX-License-Identifier: MIT
// Binds the functions of <fathom/fathom.h> by name: of the preloaded library if there is one, else
// of the one beside the package. All are found or none is used.
#include "sources/python/abi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "sources/python/old_libc.h"

FATHOM_AS_IN_OLD_LIBC(dlopen);
FATHOM_AS_IN_OLD_LIBC(dlsym);

struct abi abi;

static const struct {
  const char* symbol;
  size_t offset;
} kFunctions[] = {
    {"fathom_span_begin", offsetof(struct abi, span_begin)},
    {"fathom_span_end", offsetof(struct abi, span_end)},
    {"fathom_levels_open", offsetof(struct abi, levels_open)},
    {"fathom_levels_set", offsetof(struct abi, levels_set)},
    {"fathom_instant", offsetof(struct abi, instant)},
    {"fathom_counter_int", offsetof(struct abi, counter_int)},
    {"fathom_counter_double", offsetof(struct abi, counter_double)},
    {"fathom_arg_int", offsetof(struct abi, arg_int)},
    {"fathom_arg_uint", offsetof(struct abi, arg_uint)},
    {"fathom_arg_double", offsetof(struct abi, arg_double)},
    {"fathom_arg_text", offsetof(struct abi, arg_text)},
    {"fathom_metadata", offsetof(struct abi, metadata)},
};

static bool bind_from(void* library) {
  struct abi found;
  for (size_t i = 0; i < sizeof kFunctions / sizeof *kFunctions; i++) {
    void* function = dlsym(library, kFunctions[i].symbol);
    if (function == NULL) return false;
    memcpy((char*)&found + kFunctions[i].offset, &function, sizeof function);
  }
  abi = found;
  return true;
}

bool abi_bind(void) { return abi_is_bound() || bind_from(RTLD_DEFAULT); }

// Global, so that annotated C code of this process finds it too.
bool abi_load(const char* path) {
  if (abi_bind()) return true;
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  return library != NULL && bind_from(library);
}
