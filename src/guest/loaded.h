// SPDX-License-Identifier: MIT
// The objects of this process in the order in which the loader searches them. Its list is read
// where it lies: no lock is taken, so that this may be asked inside an allocator, by a hook that
// another library's initialisation met.
#pragma once

#include <link.h>
#include <stdint.h>

#include "guest/elf_object.h"

namespace fathom::guest {

// One object as the loader lists it. Points into the loader's own memory: valid during the visit.
struct Loaded {
  uintptr_t base;
  const ElfW(Dyn) * dynamic;
  const char* name;  // its path, as the loader was given it; "" for the program
  bool own;          // it is this library
};

// Which objects are meant: all, or those that were there at the first look. Programs begin with
// those, and the loader never unloads them: they may be visited while another thread changes its
// list.
enum class Objects { kAll, kFirst };

// Calls `visit` for each object until it returns true.
void visit_loaded(bool (*visit)(const Loaded& object, void* data), void* data,
                  Objects which = Objects::kAll);

// The first look. Where nothing can be said of the future, as for a library of another namespace,
// kFirst means all.
void note_first_loaded();

// What a name means behind this library, as dlsym(RTLD_NEXT) would say; where nothing behind it
// defines the name, the first definition before it.
void* find_behind_us(const char* name, Objects which = Objects::kAll);

}  // namespace fathom::guest
