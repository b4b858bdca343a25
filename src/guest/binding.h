// SPDX-License-Identifier: MIT
// Which symbol leads to which hook, and where the original is kept. The tables come from the
// sources; the loader binds them when we are preloaded, bind_all_objects when we come late.
#pragma once

#include <stddef.h>

#include <type_traits>

#include "guest/elf_object.h"
#include "guest/runtime.h"

namespace fathom::guest {

// One symbol. `original` is written once, by whoever meets it first; all find the same.
struct Binding {
  const char* symbol;
  void* hook;
  void** original;
  uint32_t hash = 0;  // gnu_hash_of(symbol); 0 where it is still to be computed
};
#define FATHOM_BINDING(symbol, hook, original)                                        \
  {                                                                                   \
    symbol, reinterpret_cast<void*>(hook), reinterpret_cast<void**>(original),        \
        std::integral_constant<uint32_t, ::fathom::guest::gnu_hash_of(symbol)>::value \
  }
using Dlsym = void* (*)(void*, const char*);

// What dlsym was asked for.
struct Lookup {
  Dlsym find;  // the original
  void* handle;
  const void* caller;
};
// An answer of NULL; nullptr leaves the answer to the original.
inline void* const kAnswerNull = reinterpret_cast<void*>(-1);

// The table of one source. Constant but for what fill() writes and what `original` points to.
struct Bindings {
  const Binding* rows;  // of a long table, not before fill_tables()
  size_t count;
  // Where the functions belong to a library that the program brings itself, perhaps later: what
  // dlsym is to say. Its source finds the originals; those of libc are found here.
  void* (*answer)(const Lookup& lookup, const Binding& row) = nullptr;
  // Writes the rows of a long table. As a constant the table would be pointers that the loader has
  // to relocate at the start of every program, page by page; most programs never need it.
  void (*fill)() = nullptr;
};

// From sources/in_process.guest.cc: every table; nullptr for one that this library is without.
extern const Bindings* const kAllBindings[];
extern const size_t kAllBindingsCount;

void fill_tables();                          // idempotent
const Binding* find_name(const char* name);  // among all tables; nullptr: no hook of ours
void note_own_path();                        // as guest.library
// What stands behind a hook, into `original`. Idempotent; takes no lock and no memory.
FATHOM_COLD void find_original(void** original, const char* symbol);
void find_all_originals();               // the same for all hooks, in one pass
bool libc_lacks(void* const* original);  // it is a stand-in

// The function behind a hook is looked for when the hook is first called: most programs call few.
template <class Function>
FATHOM_HOT void resolve(Function& original, const char* symbol) {
  if (FATHOM_UNLIKELY(original == nullptr))
    find_original(reinterpret_cast<void**>(&original), symbol);
}

bool loaded_late();                     // the symbols of the program lead past us: not preloaded
void bind_new_objects();                // rewrites the GOT of every object that is not bound yet
extern const Bindings kLoaderBindings;  // dlopen and dlsym

}  // namespace fathom::guest
