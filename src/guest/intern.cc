// SPDX-License-Identifier: MIT
// Names and paths: each is written once per process as a definition, and stands in records as a
// number.
//
// The table holds hashes, not texts: 64 bits, so that two of a million different texts meet with a
// chance of 1 in 10^7. It has a fixed size; when it is full, or a slot is just being filled by
// somebody else (a thread, the thread that we interrupted, a thread of the parent that a fork cut
// off), the text simply gets another definition.
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/intern.h"
#include "guest/records.h"
#include "guest/sharing.h"
#include "guest/syscalls.h"

namespace fathom::guest {
namespace {

struct Slot {
  uint64_t hash;  // atomic; 0: free
  uint32_t id;    // atomic; 0: being filled
  uint32_t spare;
};
constexpr uint32_t kProbes = 64;

// Texts go to the first table until it is nearly full, then to the second, which is a page: a short
// program touches no page for them, since the first lies beside our variables (start.ld).
struct Table {
  Slot* slots;
  uint32_t count;
  uint32_t used;  // atomic
};
constexpr uint32_t kFirst = 32;
constexpr uint32_t kSecond = 256;
constexpr uint32_t kSlots = 1u << 16;
constinit Slot first_slots[kFirst] = {};
alignas(4096) constinit Slot second_slots[kSecond] = {};
constinit Table tables[] = {
    {first_slots, kFirst, 0}, {second_slots, kSecond, 0}, {nullptr, kSlots, 0}};
constinit Table& last_table = tables[2];
constinit uint64_t unloads = 0;  // atomic: how often libraries were unloaded

uint64_t mix(uint64_t value) {
  value ^= value >> 32;
  value *= UINT64_C(0xd6e8feb86659fd93);
  value ^= value >> 32;
  value *= UINT64_C(0xd6e8feb86659fd93);
  return value ^ (value >> 32);
}

uint64_t hash_bytes(uint64_t seed, const char* text, size_t length) {
  uint64_t hash = mix(seed ^ (length * UINT64_C(0x9e3779b97f4a7c15)));
  for (; length >= 8; text += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
  }
  uint64_t rest = 0;
  memcpy(&rest, text, length);
  return mix(hash ^ rest) | 1;  // never 0, which marks a free slot
}

// The slot of a table that holds the hash, perhaps since now and with no id yet; nullptr where it
// holds none and takes no more.
Slot* find_slot(Table& table, uint64_t hash) {
  if (table.slots == nullptr) return nullptr;
  const bool full = __atomic_load_n(&table.used, __ATOMIC_RELAXED) > table.count / 4 * 3;
  for (uint32_t i = 0; i < kProbes; i++) {
    Slot* slot = &table.slots[(hash + i) % table.count];
    uint64_t seen = __atomic_load_n(&slot->hash, __ATOMIC_ACQUIRE);
    if (seen == 0 && !full &&
        __atomic_compare_exchange_n(&slot->hash, &seen, hash, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      __atomic_fetch_add(&table.used, 1, __ATOMIC_RELAXED);
      return slot;
    }
    if (seen == hash) return slot;
    if (seen == 0) return nullptr;
  }
  return nullptr;
}

Slot* find_slot(uint64_t hash) {
  for (Table& table : tables) {
    if (Slot* slot = find_slot(table, hash)) return slot;
  }
  return nullptr;
}

uint32_t new_id() { return __atomic_fetch_add(&guest.next_id, 1, __ATOMIC_RELAXED); }

// Calls define(id) if the text is new; the definition is in the segment before anybody else can see
// the id. 0 when there was no room for it: then the next one tries again.
template <class Define>
uint32_t interned(uint64_t hash, Define define) {
  Slot* slot = find_slot(hash);
  if (slot != nullptr) {
    const uint32_t id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
    if (id != 0) return id;
  }
  const uint32_t id = new_id();
  if (!define(id)) return 0;
  // Also where whoever began to fill it is gone: a handler's longjmp, a fork.
  uint32_t none = 0;
  if (slot != nullptr)
    __atomic_compare_exchange_n(&slot->id, &none, id, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  return id;
}

size_t cut(size_t length) {
  if (length <= FATHOM_TEXT_MAX) return length;
  count_loss(FATHOM_SOURCE_RUNTIME, FATHOM_LOSS_TEXT_CUT);
  return FATHOM_TEXT_MAX;
}

uint8_t* put_text(uint8_t* at, const char* text, size_t length) {
  at = fathom_put_varint(at, length);
  memcpy(at, text, length);
  return at + length;
}

}  // namespace

bool prepare_names() {
  last_table.slots = static_cast<Slot*>(sys_mmap(kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  guest.next_id = 1;
  return last_table.slots != nullptr;
}

namespace {

uint32_t define_text(uint64_t hash, const char* text, size_t length) {
  return interned(hash, [&](uint32_t id) {
    Writer writer(FATHOM_SOURCE_RUNTIME);
    uint8_t* at = room_for(writer, length + 32, FATHOM_SOURCE_RUNTIME);
    if (at == nullptr) return false;
    const AsMemoryOwner owner;
    at = fathom_put_varint(put_head(tls.cursor.at, FATHOM_KIND_STRING), id);
    writer.commit(put_text(at, text, length));
    return true;
  });
}

}  // namespace

uint32_t intern_text(const char* text, size_t length) {
  length = cut(length);
  return define_text(hash_bytes(1, text, length), text, length);
}

// Each process defines the channels that it uses, also where its parent did.
uint32_t intern_channel(const char* text, size_t length) {
  return define_text(hash_bytes(5 + (guest.process_key << 8), text, length), text, length);
}

uint32_t intern_path(uint32_t base, const char* text, size_t length) {
  if (length > 0 && text[0] == '/') base = 0;
  length = cut(length);
  return interned(hash_bytes(2 + (static_cast<uint64_t>(base) << 8), text, length),
                  [&](uint32_t id) {
                    Writer writer(FATHOM_SOURCE_RUNTIME);
                    uint8_t* at = room_for(writer, length + 32, FATHOM_SOURCE_RUNTIME);
                    if (at == nullptr) return false;
                    const AsMemoryOwner owner;
                    at = fathom_put_varint(put_head(tls.cursor.at, FATHOM_KIND_PATH), id);
                    writer.commit(put_text(fathom_put_varint(at, base), text, length));
                    return true;
                  });
}

uint32_t define_site(const char* name, const char* category, const char* file, unsigned line) {
  const uint32_t name_id = intern_text(name, strlen(name));
  const uint32_t category_id = category != nullptr ? intern_text(category, strlen(category)) : 0;
  const uint32_t file_id = file != nullptr ? intern_text(file, strlen(file)) : 0;
  if (name_id == 0) return 0;
  const uint64_t parts[3] = {name_id, category_id, (static_cast<uint64_t>(file_id) << 32) | line};
  return interned(hash_bytes(3, reinterpret_cast<const char*>(parts), sizeof parts),
                  [&](uint32_t id) {
                    Writer writer(FATHOM_SOURCE_APP);
                    if (!writer.ok()) return false;
                    const AsMemoryOwner owner;
                    uint8_t* at = fathom_put_varint(put_head(tls.cursor.at, FATHOM_KIND_SITE), id);
                    at = fathom_put_varint(fathom_put_varint(at, name_id), category_id);
                    writer.commit(fathom_put_varint(fathom_put_varint(at, line), file_id));
                    return true;
                  });
}

namespace {

struct Module {
  uintptr_t address;
  uintptr_t base = 0;
  uint32_t path = 0;
};

// Where a module begins in memory: not its bias, which is 0 for a program that is not PIE.
uintptr_t first_byte(const dl_phdr_info* info) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t below = segment.p_align > 1 ? segment.p_vaddr & (segment.p_align - 1) : 0;
    return info->dlpi_addr + segment.p_vaddr - below;
  }
  return info->dlpi_addr;
}

int find_module(dl_phdr_info* info, size_t, void* to) {
  auto* module = static_cast<Module*>(to);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD ||
        module->address - info->dlpi_addr - segment.p_vaddr >= segment.p_memsz)
      continue;
    module->base = first_byte(info);
    if (info->dlpi_name[0] != 0) {
      module->path = intern_path(guest.cwd, info->dlpi_name, strlen(info->dlpi_name));
    } else {
      static constinit char program[4096];
      const long length = sys_readlink("/proc/self/exe", program, sizeof program);
      if (length > 0) module->path = intern_path(0, program, static_cast<size_t>(length));
    }
    return 1;
  }
  return 0;
}

}  // namespace

void forget_functions() { __atomic_fetch_add(&unloads, 1, __ATOMIC_RELAXED); }

// An address means another function when a library was unloaded and another one lies there.
uint32_t intern_function(const void* address) {
  const uint64_t parts[2] = {reinterpret_cast<uintptr_t>(address),
                             __atomic_load_n(&unloads, __ATOMIC_RELAXED)};
  return interned(
      hash_bytes(4, reinterpret_cast<const char*>(parts), sizeof parts), [&](uint32_t id) {
        Module module{reinterpret_cast<uintptr_t>(address)};
        dl_iterate_phdr(find_module, &module);
        Writer writer(FATHOM_SOURCE_APP);
        if (!writer.ok()) return false;
        const AsMemoryOwner owner;
        uint8_t* at = fathom_put_varint(put_head(tls.cursor.at, FATHOM_KIND_FUNCTION_SITE), id);
        writer.commit(
            fathom_put_varint(fathom_put_varint(at, module.path), module.address - module.base));
        return true;
      });
}

}  // namespace fathom::guest
