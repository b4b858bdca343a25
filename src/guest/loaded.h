// SPDX-License-Identifier: MIT
// The objects of this process in the order in which the loader searches them. Its list is read
// where it lies: no lock is taken, so that this may be asked inside an allocator, by a hook that
// another library's initialisation met.
#pragma once

#include <link.h>
#include <stdint.h>

#include "guest/elf_object.h"

namespace fathom::guest {

struct Loaded {
  uintptr_t base;
  const ElfW(Dyn) * dynamic;
  const char* name;  // its path, as the loader was given it; "" for the program
  bool own;          // it is this library
};

// Calls `visit` for each object until it returns true.
void visit_loaded(bool (*visit)(const Loaded& object, void* data), void* data);

// What a name means behind this library, as dlsym(RTLD_NEXT) would say; where nothing behind it
// defines the name, the first definition before it.
void* find_behind_us(const char* name);

}  // namespace fathom::guest
