// SPDX-License-Identifier: MIT
// The dynamic section of a loaded object: its relocations and its symbols, read where the loader
// put them.
#pragma once

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace fathom::guest {

// Pointers into what the loader mapped; nullptr where an object has no such table. Valid as long as
// the object is loaded: the caller sees to that.
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
  const uint16_t* versions = nullptr;  // DT_VERSYM, one for each symbol
};

bool holds_address(const dl_phdr_info* info, uintptr_t address);

// Whether it has a dynamic section.
bool read_object(const dl_phdr_info* info, Object& object);
void read_object(uintptr_t base, const ElfW(Dyn) * dynamic, Object& object);
size_t count_symbols(const Object& object);

constexpr uint32_t gnu_hash_of(const char* name) {
  uint32_t hash = 5381;
  for (; *name != 0; name++) hash = hash * 33 + static_cast<uint8_t>(*name);
  return hash;
}

// Nothing of libc is called where originals are looked for: the run-time library of a sanitizer
// asks for them before its own versions of such functions work, which stand before libc's.
constexpr bool same_text(const char* one, const char* other) {
  while (*one != 0 && *one == *other) one++, other++;
  return *one == *other;
}
constexpr bool starts_with(const char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) text++, prefix++;
  return *prefix == 0;
}

// A name with the hash that objects list it under.
struct SymbolName {
  const char* text;
  uint32_t gnu_hash = gnu_hash_of(text);
};

// The address that dlsym would give for this object alone: of the default version, and of an
// IFUNC what its resolver chooses. nullptr where the object does not define the name. Takes no
// lock and no memory, and leaves dlerror() alone.
void* find_symbol(const Object& object, const SymbolName& name);

// The file's own name, without its folders.
const char* base_name_of(const char* path);

}  // namespace fathom::guest
