// SPDX-License-Identifier: MIT
#include "guest/elf_object.h"

#include <string.h>

namespace fathom::guest {
namespace {

// The loader has relocated these addresses in glibc's own copy of the dynamic section.
const void* dynamic_address(uintptr_t base, ElfW(Addr) value) {
  return reinterpret_cast<const void*>(value < base ? base + value : value);
}

void read_dynamic(Object& object, const ElfW(Dyn) * entry) {
  for (; entry->d_tag != DT_NULL; entry++) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        object.symbols = static_cast<const ElfW(Sym)*>(dynamic_address(object.base, value));
        break;
      case DT_STRTAB:
        object.strings = static_cast<const char*>(dynamic_address(object.base, value));
        break;
      case DT_RELA:
        object.relocations = static_cast<const ElfW(Rela)*>(dynamic_address(object.base, value));
        break;
      case DT_RELASZ:
        object.relocation_bytes = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        object.jumps = static_cast<const ElfW(Rela)*>(dynamic_address(object.base, value));
        break;
      case DT_PLTRELSZ:
        object.jump_bytes = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        object.relative_count = entry->d_un.d_val;
        break;
      case DT_HASH:
        object.hash = static_cast<const uint32_t*>(dynamic_address(object.base, value));
        break;
      case DT_GNU_HASH:
        object.gnu_hash = static_cast<const uint32_t*>(dynamic_address(object.base, value));
        break;
      default:
        break;
    }
  }
}

// GNU's table does not tell how many symbols there are: the last chain's end does.
size_t count_by_gnu_hash(const uint32_t* table) {
  const uint32_t buckets = table[0], first = table[1], words = table[2];
  const uint32_t* bucket = table + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; i++) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) last++;
  return last + 1;
}

}  // namespace

bool read_object(const dl_phdr_info* info, Object& object) {
  object.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    read_dynamic(object, reinterpret_cast<const ElfW(Dyn)*>(object.base + segment.p_vaddr));
    return true;
  }
  return false;
}

size_t count_symbols(const Object& object) {
  if (object.hash != nullptr) return object.hash[1];
  return object.gnu_hash != nullptr ? count_by_gnu_hash(object.gnu_hash) : 0;
}

const char* base_name_of(const char* path) {
  const char* name = path;
  for (; *path != 0; path++) {
    if (*path == '/') name = path + 1;
  }
  return name;
}

}  // namespace fathom::guest
