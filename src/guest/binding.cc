// SPDX-License-Identifier: MIT
// Originals, and the binding of hooks when the library was loaded late: every pointer that an object's relocations made to a function
// of ours is rewritten (docs/design: DESIGN section 2; PLT slots, GOT entries and tables of function pointers).
#include "guest/binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/call.h"
#include "guest/runtime.h"
#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobData = R_X86_64_GLOB_DAT, kWord = R_X86_64_64;
#else
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobData = R_AARCH64_GLOB_DAT, kWord = R_AARCH64_ABS64;
#endif

constinit uint32_t resolved = 0;

// Names to hooks: open addressing over a table that is built once, so that an object with 80000 relocations binds in milliseconds.
constexpr uint32_t kNames = 2048;
constinit const Binding* names[kNames] = {};

uint32_t hash_name(const char* name) {
  uint32_t hash = 2166136261u;
  for (; *name != 0; name++) hash = (hash ^ static_cast<uint8_t>(*name)) * 16777619u;
  return hash;
}

void index_names() {
  for (size_t table = 0; table < kAllBindingsCount; table++) {
    for (size_t row = 0; row < kAllBindings[table]->count; row++) {
      const Binding* binding = &kAllBindings[table]->rows[row];
      uint32_t at = hash_name(binding->symbol) % kNames;
      while (names[at] != nullptr) at = (at + 1) % kNames;
      names[at] = binding;
    }
  }
}

const Binding* find_name(const char* name) {
  for (uint32_t at = hash_name(name) % kNames; names[at] != nullptr; at = (at + 1) % kNames) {
    if (strcmp(names[at]->symbol, name) == 0) return names[at];
  }
  return nullptr;
}

struct Object {
  uintptr_t base = 0;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela)* relocations = nullptr;
  size_t relocation_bytes = 0;
  const ElfW(Rela)* jumps = nullptr;
  size_t jump_bytes = 0;
  size_t relative_count = 0;  // relocations without a symbol, which stand first
};

// The loader has relocated these addresses in glibc's own copy of the dynamic section.
const void* dynamic_address(uintptr_t base, ElfW(Addr) value) {
  return reinterpret_cast<const void*>(value < base ? base + value : value);
}

void read_dynamic(Object& object, const ElfW(Dyn)* entry) {
  for (; entry->d_tag != DT_NULL; entry++) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB: object.symbols = static_cast<const ElfW(Sym)*>(dynamic_address(object.base, value)); break;
      case DT_STRTAB: object.strings = static_cast<const char*>(dynamic_address(object.base, value)); break;
      case DT_RELA: object.relocations = static_cast<const ElfW(Rela)*>(dynamic_address(object.base, value)); break;
      case DT_RELASZ: object.relocation_bytes = entry->d_un.d_val; break;
      case DT_JMPREL: object.jumps = static_cast<const ElfW(Rela)*>(dynamic_address(object.base, value)); break;
      case DT_PLTRELSZ: object.jump_bytes = entry->d_un.d_val; break;
      case DT_RELACOUNT: object.relative_count = entry->d_un.d_val; break;
      default: break;
    }
  }
}

// The slot may lie in memory that the loader made read-only.
void write_slot(void** slot, void* value, const dl_phdr_info* info) {
  constexpr uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(slot);
  bool read_only = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_RELRO && address - info->dlpi_addr - segment.p_vaddr < segment.p_memsz) read_only = true;
  }
  void* page = reinterpret_cast<void*>(address & ~(kPage - 1));
  if (read_only && raw_syscall(SYS_mprotect, as_long(page), kPage, PROT_READ | PROT_WRITE) != 0) {
    count_loss(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_UNBOUND);
    return;
  }
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) raw_syscall(SYS_mprotect, as_long(page), kPage, PROT_READ);
}

void bind_relocations(const Object& object, const ElfW(Rela)* rows, size_t count, const dl_phdr_info* info) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t type = ELF64_R_TYPE(rows[i].r_info);
    if (type != kJumpSlot && type != kGlobData && !(type == kWord && rows[i].r_addend == 0)) continue;
    const uint32_t index = ELF64_R_SYM(rows[i].r_info);
    if (index == 0) continue;
    const ElfW(Sym)& symbol = object.symbols[index];
    // A function that the object defines itself stays its own.
    if (symbol.st_shndx != SHN_UNDEF) continue;
    const Binding* binding = find_name(object.strings + symbol.st_name);
    if (binding == nullptr) continue;
    write_slot(reinterpret_cast<void**>(object.base + rows[i].r_offset), binding->hook, info);
  }
}

struct Scan {
  uintptr_t own;
  uint64_t adds;
};
constinit uint64_t bound_adds = 0;  // dlpi_adds at the last scan

int bind_object(dl_phdr_info* info, size_t, void* data) {
  auto* scan = static_cast<Scan*>(data);
  scan->adds = info->dlpi_adds;
  Object object;
  object.base = info->dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  bool own = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.base + segment.p_vaddr);
    if (segment.p_type == PT_LOAD && scan->own - object.base - segment.p_vaddr < segment.p_memsz) own = true;
  }
  if (own || dynamic == nullptr || strstr(info->dlpi_name, "/ld-linux") != nullptr || strstr(info->dlpi_name, "linux-vdso") != nullptr ||
      strstr(info->dlpi_name, "/libc.so.6") != nullptr) {
    return 0;
  }
  read_dynamic(object, dynamic);
  if (object.symbols == nullptr || object.strings == nullptr) return 0;
  if (object.jumps != nullptr) bind_relocations(object, object.jumps, object.jump_bytes / sizeof(ElfW(Rela)), info);
  if (object.relocations != nullptr) {
    const size_t count = object.relocation_bytes / sizeof(ElfW(Rela));
    const size_t skipped = object.relative_count < count ? object.relative_count : count;
    bind_relocations(object, object.relocations + skipped, count - skipped, info);
  }
  return 0;
}

}  // namespace

void resolve_originals() {
  if (__atomic_exchange_n(&resolved, 1, __ATOMIC_ACQ_REL) != 0) return;
  for (size_t table = 0; table < kAllBindingsCount; table++) {
    for (size_t row = 0; row < kAllBindings[table]->count; row++) {
      const Binding& binding = kAllBindings[table]->rows[row];
      void* original = dlsym(RTLD_NEXT, binding.symbol);
      if (original != nullptr) __atomic_store_n(binding.original, original, __ATOMIC_RELEASE);
    }
  }
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&bind_all_objects), &info) != 0 && info.dli_fname != nullptr) {
    Text(guest.library, sizeof guest.library).add(info.dli_fname);
  }
}

// Preloaded, the first definition of a libc function in the program's scope is ours.
bool loaded_late() {
  const void* first = dlsym(RTLD_DEFAULT, "pread");
  Dl_info theirs{}, ours{};
  if (first == nullptr || dladdr(first, &theirs) == 0 || dladdr(reinterpret_cast<const void*>(&bind_all_objects), &ours) == 0) return false;
  return theirs.dli_fbase != ours.dli_fbase;
}

void bind_all_objects() {
  if (names[hash_name("read") % kNames] == nullptr) index_names();
  Scan scan{reinterpret_cast<uintptr_t>(&bind_all_objects), 0};
  dl_iterate_phdr(bind_object, &scan);
  __atomic_store_n(&bound_adds, scan.adds, __ATOMIC_RELAXED);
}

}  // namespace fathom::guest
