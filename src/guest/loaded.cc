// SPDX-License-Identifier: MIT
// Walks the loader's own list (_r_debug) where that is safe, and dl_iterate_phdr where libraries
// may come and go meanwhile.
#include "guest/loaded.h"

namespace fathom::guest {
namespace {

constinit uint32_t first_count = 0;  // atomic; 0: nobody has looked yet

const link_map* own_entry() {
  const link_map* entry = _r_debug.r_map;
  while (entry != nullptr && entry->l_ld != _DYNAMIC) entry = entry->l_next;
  return entry;
}

struct Visit {
  bool (*visit)(const Loaded& object, void* data);
  void* data;
};

int visit_object(dl_phdr_info* info, size_t, void* data) {
  const auto* visit = static_cast<const Visit*>(data);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + segment.p_vaddr);
    const Loaded object{info->dlpi_addr, dynamic, info->dlpi_name, dynamic == _DYNAMIC};
    return visit->visit(object, visit->data) ? 1 : 0;
  }
  return 0;
}

struct Search {
  SymbolName name;
  bool behind = false;
  void* before_us = nullptr;
  void* behind_us = nullptr;
};

bool look_at(const Loaded& loaded, void* data) {
  auto* search = static_cast<Search*>(data);
  if (loaded.own) {
    search->behind = true;
    return false;
  }
  if (!search->behind && search->before_us != nullptr) return false;
  Object object;
  read_object(loaded.base, loaded.dynamic, object);
  void* found = find_symbol(object, search->name);
  (search->behind ? search->behind_us : search->before_us) = found;
  return search->behind && found != nullptr;
}

}  // namespace

void note_first_loaded() {
  if (__atomic_load_n(&first_count, __ATOMIC_RELAXED) != 0) return;
  uint32_t count = 0;
  for (const link_map* entry = _r_debug.r_map; entry != nullptr; entry = entry->l_next) count++;
  __atomic_store_n(&first_count, count, __ATOMIC_RELAXED);
}

// A library that dlmopen loaded is in a list of its own, which only the loader knows.
void visit_loaded(bool (*visit)(const Loaded& object, void* data), void* data, Objects which) {
  if (own_entry() == nullptr) {
    Visit all{visit, data};
    dl_iterate_phdr(visit_object, &all);
    return;
  }
  const uint32_t first = __atomic_load_n(&first_count, __ATOMIC_RELAXED);
  uint32_t left = which == Objects::kFirst && first != 0 ? first : UINT32_MAX;
  // Behind the last one nothing is looked at, not even where the list goes on.
  for (const link_map* entry = _r_debug.r_map; entry != nullptr;
       entry = left > 0 ? entry->l_next : nullptr) {
    left--;
    if (visit({entry->l_addr, entry->l_ld, entry->l_name, entry->l_ld == _DYNAMIC}, data)) return;
  }
}

void* find_behind_us(const char* name, Objects which) {
  Search search{{name}};
  visit_loaded(look_at, &search, which);
  return search.behind_us != nullptr ? search.behind_us : search.before_us;
}

}  // namespace fathom::guest
