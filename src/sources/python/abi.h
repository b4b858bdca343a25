// SPDX-License-Identifier: MIT
// The functions of libfathom.so (include/fathom/fathom.h) that the extension calls. They are there
// when the library was preloaded, linked, or loaded by abi_load; else the extension does nothing.
#pragma once

#include <fathom/fathom.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct abi {
  struct fathom_region (*span_begin)(void);
  void (*span_end)(struct fathom_site* site, struct fathom_region region, uint64_t level);
  uint64_t (*levels_open)(uint64_t more);
  void (*levels_set)(uint64_t open);
  void (*instant)(struct fathom_site* site);
  void (*counter_int)(struct fathom_site* site, int64_t value);
  void (*counter_double)(struct fathom_site* site, double value);
  void (*arg_int)(const char* key, int64_t value);
  void (*arg_uint)(const char* key, uint64_t value);
  void (*arg_double)(const char* key, double value);
  void (*arg_text)(const char* key, const char* value);
  void (*metadata)(const char* key, const char* value);
};

// All of them, or none. Bound with the GIL held; once bound they stay, and any thread may call
// them.
extern struct abi abi;
static inline bool abi_is_bound(void) { return abi.span_begin != NULL; }

// Takes the functions of a library that is in the process already. Whether they are bound then.
bool abi_bind(void);
// Loads the library, which begins to record if FATHOM_OUT says so, and takes its functions.
bool abi_load(const char* path);
