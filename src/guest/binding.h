// SPDX-License-Identifier: MIT
// Which symbol leads to which hook, and where the original is kept. The tables come from the
// sources; the loader binds them when we are preloaded, bind_all_objects when we come late.
#pragma once

#include <stddef.h>

namespace fathom::guest {

struct Binding {
  const char* symbol;
  void* hook;
  void** original;
};
struct Bindings {
  const Binding* rows;
  size_t count;
};

// From sources/in_process.guest.cc: every table; nullptr for one that this library is without.
extern const Bindings* const kAllBindings[];
extern const size_t kAllBindingsCount;

void resolve_originals();               // idempotent
bool originals_are_sought();            // by whoever calls this, or by another thread
bool loaded_late();                     // the symbols of the program lead past us: not preloaded
void bind_new_objects();                // rewrites the GOT of every object that is not bound yet
extern const Bindings kLoaderBindings;  // dlopen and dlsym

}  // namespace fathom::guest
