// SPDX-License-Identifier: MIT
// The binding of hooks when the library was loaded late: every pointer that an object's relocations
// made to a function of ours is rewritten (PLT slots, GOT entries
// and tables of function pointers).
#include "guest/binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/call.h"
#include "guest/elf_object.h"
#include "guest/intern.h"
#include "guest/loaded.h"
#include "guest/runtime.h"
#include "guest/syscalls.h"
#include "guest/tail_jump.h"
#include "guest/text.h"

namespace fathom::guest {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobData = R_X86_64_GLOB_DAT,
                   kWord = R_X86_64_64;
#else
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobData = R_AARCH64_GLOB_DAT,
                   kWord = R_AARCH64_ABS64;
#endif

// Names to hooks: open addressing over a table that is built once, so that an object with 80000
// relocations binds in milliseconds.
constexpr uint32_t kNames = 2048;
constinit const Binding* names[kNames] = {};

uint32_t hash_name(const char* name) {
  uint32_t hash = 2166136261u;
  for (; *name != 0; name++) hash = (hash ^ static_cast<uint8_t>(*name)) * 16777619u;
  return hash;
}

constinit uint32_t names_state = 0;  // atomic: 1 while somebody fills the table, 2 after

// For programs that ask for functions by name, and for objects that are bound late: most do
// neither.
void index_names() {
  fill_tables();
  for (size_t table = 0; table < kAllBindingsCount; table++) {
    if (kAllBindings[table] == nullptr) continue;
    for (size_t row = 0; row < kAllBindings[table]->count; row++) {
      const Binding* binding = &kAllBindings[table]->rows[row];
      uint32_t at = hash_name(binding->symbol) % kNames;
      while (names[at] != nullptr) at = (at + 1) % kNames;
      names[at] = binding;
    }
  }
}

const Binding* search_name(const char* name) {
  fill_tables();
  for (size_t table = 0; table < kAllBindingsCount; table++) {
    if (kAllBindings[table] == nullptr) continue;
    for (size_t row = 0; row < kAllBindings[table]->count; row++) {
      if (strcmp(kAllBindings[table]->rows[row].symbol, name) == 0)
        return &kAllBindings[table]->rows[row];
    }
  }
  return nullptr;
}

// The table that a row stands in.
const Bindings& table_of(const Binding* row) {
  size_t table = 0;
  while (kAllBindings[table] == nullptr || row < kAllBindings[table]->rows ||
         row >= kAllBindings[table]->rows + kAllBindings[table]->count)
    table++;
  return *kAllBindings[table];
}

}  // namespace

// Several may be at it: all write the same.
void fill_tables() {
  static constinit bool filled = false;
  if (__atomic_load_n(&filled, __ATOMIC_ACQUIRE)) return;
  for (size_t table = 0; table < kAllBindingsCount; table++) {
    if (kAllBindings[table] != nullptr && kAllBindings[table]->fill != nullptr)
      kAllBindings[table]->fill();
  }
  __atomic_store_n(&filled, true, __ATOMIC_RELEASE);
}

const Binding* find_name(const char* name) {
  uint32_t nobody = 0;
  if (__atomic_load_n(&names_state, __ATOMIC_ACQUIRE) != 2) {
    // A signal handler, or another thread, that comes meanwhile looks through the tables.
    if (!__atomic_compare_exchange_n(&names_state, &nobody, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
      return search_name(name);
    index_names();
    __atomic_store_n(&names_state, 2, __ATOMIC_RELEASE);
  }
  for (uint32_t at = hash_name(name) % kNames; names[at] != nullptr; at = (at + 1) % kNames) {
    if (strcmp(names[at]->symbol, name) == 0) return names[at];
  }
  return nullptr;
}

namespace {

// The slot may lie in memory that the loader made read-only.
void write_slot(void** slot, void* value, const dl_phdr_info* info) {
  const uintptr_t page_bytes = page_size();
  const auto address = reinterpret_cast<uintptr_t>(slot);
  bool read_only = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    // As the loader does it: a last page that is not wholly inside stays writable.
    const uintptr_t end = (info->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page_bytes - 1);
    if (segment.p_type == PT_GNU_RELRO && address >= info->dlpi_addr + segment.p_vaddr &&
        address < end)
      read_only = true;
  }
  void* page = reinterpret_cast<void*>(address & ~(page_bytes - 1));
  if (read_only && raw_syscall(SYS_mprotect, as_long(page), static_cast<long>(page_bytes),
                               PROT_READ | PROT_WRITE) != 0) {
    count_loss(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_UNBOUND);
    return;
  }
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) raw_syscall(SYS_mprotect, as_long(page), static_cast<long>(page_bytes), PROT_READ);
}

void bind_relocations(const Object& object, const ElfW(Rela) * rows, size_t count,
                      const dl_phdr_info* info) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t type = ELF64_R_TYPE(rows[i].r_info);
    if (type != kJumpSlot && type != kGlobData && !(type == kWord && rows[i].r_addend == 0))
      continue;
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

// Objects that are bound already, by their base. Forgotten when one was unloaded: another may lie
// where it lay.
constexpr uint32_t kMaxBound = 1024;
constinit uintptr_t bound[kMaxBound] = {};
constinit uint32_t bound_count = 0;
constinit uint64_t bound_adds = 0, bound_subs = 0;  // the loader's counters at the last scan
constinit uint32_t scanning = 0;

bool is_bound(uintptr_t base) {
  for (uint32_t i = 0; i < bound_count; i++) {
    if (bound[i] == base) return true;
  }
  if (bound_count < kMaxBound) bound[bound_count++] = base;
  return false;
}

struct Scan {
  uintptr_t own;
  bool first = true;
};

int bind_object(dl_phdr_info* info, size_t, void* data) {
  auto* scan = static_cast<Scan*>(data);
  if (scan->first) {
    scan->first = false;
    if (info->dlpi_adds == bound_adds && info->dlpi_subs == bound_subs) return 1;  // nothing new
    if (info->dlpi_subs != bound_subs) bound_count = 0;
    bound_adds = info->dlpi_adds;
    bound_subs = info->dlpi_subs;
  }
  if (is_bound(info->dlpi_addr)) return 0;
  if (holds_address(info, scan->own) || strstr(info->dlpi_name, "/ld-linux") != nullptr ||
      strstr(info->dlpi_name, "linux-vdso") != nullptr ||
      strstr(info->dlpi_name, "/libc.so.6") != nullptr) {
    return 0;
  }
  Object object;
  if (!read_object(info, object) || object.symbols == nullptr || object.strings == nullptr)
    return 0;
  if (object.jumps != nullptr)
    bind_relocations(object, object.jumps, object.jump_bytes / sizeof(ElfW(Rela)), info);
  if (object.relocations != nullptr) {
    const size_t count = object.relocation_bytes / sizeof(ElfW(Rela));
    const size_t skipped = object.relative_count < count ? object.relative_count : count;
    bind_relocations(object, object.relocations + skipped, count - skipped, info);
  }
  return 0;
}

}  // namespace

// Tail jumps lead here first (docs: a wrapped dlopen would look for libraries where we lie, not
// where the caller does).
extern "C" {
__attribute__((visibility("hidden"), used)) void* fathom_original_dlsym = nullptr;
__attribute__((visibility("hidden"), used)) void* fathom_original_dlopen = nullptr;

// Objects that dlopen brought are bound when the program asks for their symbols, or at the next
// dlopen.
__attribute__((visibility("hidden"), used)) void* fathom_before_dlopen(const char*, int) {
  note_first_loaded();
  if (guest.late && guest.attached) bind_new_objects();
  return nullptr;
}

// A function of libc that is asked for by name leads to its hook; nothing else is touched, but for
// what a source answers itself. Lookups relative to the caller (RTLD_NEXT) are left to the
// original.
__attribute__((visibility("hidden"), used)) void* fathom_before_dlsym(void* handle,
                                                                      const char* name, void*,
                                                                      const void* caller) {
  if (handle == RTLD_NEXT || name == nullptr || fathom_original_dlsym == nullptr) return nullptr;
  const auto find = reinterpret_cast<Dlsym>(fathom_original_dlsym);
  if (guest.late && guest.attached) bind_new_objects();
  const Binding* binding = find_name(name);
  if (binding == nullptr) return nullptr;
  if (const auto answer = table_of(binding).answer) return answer({find, handle, caller}, *binding);
  resolve(*binding->original, binding->symbol);
  if (*binding->original == nullptr) return nullptr;
  const void* found = find(handle, name);
  // As libc answers, its words for dlerror() included.
  if (found == binding->hook && libc_lacks(binding->original))
    return find(RTLD_NEXT, name) == nullptr ? kAnswerNull : nullptr;
  return guest.attached && found == *binding->original ? binding->hook : nullptr;
}
__attribute__((visibility("default"))) void* hook_dlsym(void*, const char*) __asm__("dlsym");
__attribute__((visibility("default"))) void* hook_dlopen(const char*, int) __asm__("dlopen");
__attribute__((visibility("default"))) int hook_dlclose(void*) __asm__("dlclose");
}

FATHOM_TAIL_JUMP("dlsym", "fathom_before_dlsym", "fathom_original_dlsym")
FATHOM_TAIL_JUMP("dlopen", "fathom_before_dlopen", "fathom_original_dlopen")

namespace {

using Dlclose = int (*)(void*);
constinit Dlclose original_dlclose = nullptr;
constinit uint64_t unloaded = 0;  // the loader's counter when we looked last

int look_for_unloads(dl_phdr_info* info, size_t, void*) {
  if (__atomic_exchange_n(&unloaded, info->dlpi_subs, __ATOMIC_RELAXED) != info->dlpi_subs)
    forget_functions();
  return 1;
}

}  // namespace

int hook_dlclose(void* library) {
  resolve(original_dlclose, "dlclose");
  const int ret = original_dlclose(library);
  if (guest.attached) dl_iterate_phdr(look_for_unloads, nullptr);
  return ret;
}

namespace {
const Binding kLoaderRows[] = {
    {"dlclose", reinterpret_cast<void*>(&hook_dlclose),
     reinterpret_cast<void**>(&original_dlclose)},
    {"dlsym", reinterpret_cast<void*>(&hook_dlsym), &fathom_original_dlsym},
    {"dlopen", reinterpret_cast<void*>(&hook_dlopen), &fathom_original_dlopen},
};
}  // namespace

const Bindings kLoaderBindings{kLoaderRows, sizeof kLoaderRows / sizeof *kLoaderRows};

void bind_new_objects() {
  if (__atomic_exchange_n(&scanning, 1, __ATOMIC_ACQUIRE) != 0) return;
  Scan scan{reinterpret_cast<uintptr_t>(&bind_new_objects)};
  dl_iterate_phdr(bind_object, &scan);
  __atomic_store_n(&scanning, 0, __ATOMIC_RELEASE);
}

}  // namespace fathom::guest
