// SPDX-License-Identifier: MIT
// Looks symbols up as the loader would (the hash tables of System V's ABI and GNU's), but without
// its lock and without libc: a hook may run inside malloc or inside dlopen. Nothing is checked
// against the object's end: the loader has read these tables before us.
#include "guest/elf_object.h"

#include <sys/auxv.h>

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
      case DT_VERSYM:
        object.versions = static_cast<const uint16_t*>(dynamic_address(object.base, value));
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

uint32_t old_hash_of(const char* name) {
  uint32_t hash = 0;
  for (; *name != 0; name++) {
    hash = (hash << 4) + static_cast<uint8_t>(*name);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  return hash;
}

// A definition that programs are linked with today: older versions of it are hidden.
bool is_definition(const Object& object, uint32_t index, const char* name) {
  constexpr uint16_t kHidden = 0x8000;
  const ElfW(Sym)& symbol = object.symbols[index];
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || type == STT_TLS) return false;
  if (object.versions != nullptr && (object.versions[index] & kHidden) != 0) return false;
  return same_text(object.strings + symbol.st_name, name);
}

// 0: none.
uint32_t index_by_gnu_hash(const Object& object, const SymbolName& name) {
  const uint32_t* table = object.gnu_hash;
  const uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3];
  constexpr uint32_t kBits = sizeof(ElfW(Addr)) * 8;
  const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(table + 4);
  const ElfW(Addr) word = bloom[name.gnu_hash / kBits & (words - 1)];
  if ((word >> (name.gnu_hash % kBits) & word >> ((name.gnu_hash >> shift) % kBits) & 1) == 0)
    return 0;
  const auto* bucket = reinterpret_cast<const uint32_t*>(bloom + words);
  const uint32_t* chain = bucket + buckets;
  uint32_t index = bucket[name.gnu_hash % buckets];
  if (index < first) return 0;
  for (;; index++) {
    const uint32_t hash = chain[index - first];
    if ((hash | 1) == (name.gnu_hash | 1) && is_definition(object, index, name.text)) return index;
    if ((hash & 1) != 0) return 0;
  }
}

uint32_t index_by_old_hash(const Object& object, const SymbolName& name) {
  const uint32_t buckets = object.hash[0];
  const uint32_t* bucket = object.hash + 2;
  const uint32_t* chain = bucket + buckets;
  for (uint32_t index = bucket[old_hash_of(name.text) % buckets]; index != 0; index = chain[index])
    if (is_definition(object, index, name.text)) return index;
  return 0;
}

// As the loader calls it.
void* resolved(uintptr_t resolver) {
#if defined(__aarch64__)
  struct {
    unsigned long size, hwcap, hwcap2;
  } const facts{sizeof facts, getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  constexpr uint64_t kFactsFollow = UINT64_C(1) << 62;
  return reinterpret_cast<void* (*)(uint64_t, const void*)>(resolver)(facts.hwcap | kFactsFollow,
                                                                      &facts);
#else
  return reinterpret_cast<void* (*)()>(resolver)();
#endif
}

}  // namespace

void* find_symbol(const Object& object, const SymbolName& name) {
  if (object.symbols == nullptr || object.strings == nullptr) return nullptr;
  const uint32_t index = object.gnu_hash != nullptr ? index_by_gnu_hash(object, name)
                         : object.hash != nullptr   ? index_by_old_hash(object, name)
                                                    : 0;
  if (index == 0) return nullptr;
  const ElfW(Sym)& symbol = object.symbols[index];
  const uintptr_t address =
      symbol.st_shndx == SHN_ABS ? symbol.st_value : object.base + symbol.st_value;
  return ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC ? resolved(address)
                                                        : reinterpret_cast<void*>(address);
}

bool holds_address(const dl_phdr_info* info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && address - info->dlpi_addr - segment.p_vaddr < segment.p_memsz)
      return true;
  }
  return false;
}

void read_object(uintptr_t base, const ElfW(Dyn) * dynamic, Object& object) {
  object.base = base;
  read_dynamic(object, dynamic);
}

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
