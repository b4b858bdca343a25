// SPDX-License-Identifier: MIT
// The dynamic section of a loaded object: its relocations and its symbols, read where the loader
// put them.
#pragma once

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace fathom::guest {

struct Object {
  uintptr_t base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * relocations = nullptr;
  size_t relocation_bytes = 0;
  const ElfW(Rela) * jumps = nullptr;
  size_t jump_bytes = 0;
  size_t relative_count = 0;           // relocations without a symbol, which stand first
  const uint32_t* hash = nullptr;      // DT_HASH
  const uint32_t* gnu_hash = nullptr;  // DT_GNU_HASH
};

// Whether it has a dynamic section.
bool read_object(const dl_phdr_info* info, Object& object);
size_t count_symbols(const Object& object);

// The file's own name, without its folders.
const char* base_name_of(const char* path);

}  // namespace fathom::guest
