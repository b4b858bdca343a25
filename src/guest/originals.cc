// SPDX-License-Identifier: MIT
// Where the functions behind the hooks are. The symbol tables of the loaded objects are read: dlsym
// takes locks, and allocates for each name that this libc does not have, while the hook that needs
// its original may have been met inside the program's allocator, with the allocator's lock held.
//
// Preloaded, each is looked for when its hook is first called: a look for all of them would cost
// every short program more than the rest of attaching.
#include <errno.h>

#include "guest/binding.h"
#include "guest/loaded.h"
#include "guest/runtime.h"
#include "guest/syscalls.h"

namespace fathom::guest {
namespace {

// Functions that the program may meet here though its libc has none: a weak reference finds ours.
// What libc has instead does their work, or they fail as on a kernel that does not know the call.
struct StandIn {
  const char* symbol;
  const char* instead;
};
constexpr StandIn kStandIns[] = {
    {"fcntl64", "fcntl"},
    {"_Fork", "fork"},
    {"__isoc23_fscanf", "__isoc99_fscanf"},
    {"__isoc23_scanf", "__isoc99_scanf"},
    {"__isoc23_vfscanf", "__isoc99_vfscanf"},
    {"__isoc23_vscanf", "__isoc99_vscanf"},
};

long not_there() {
  errno = ENOSYS;
  return -1;
}

void close_from(int first) {
  const auto from = static_cast<unsigned>(first < 0 ? 0 : first);
  if (raw_syscall(SYS_close_range, from, ~0U, 0) == 0) return;
  constexpr unsigned kMost = 65536;
  for (unsigned fd = from; fd < kMost; fd++) sys_close(static_cast<int>(fd));
}

void* stand_in_for(const char* symbol) {
  for (const StandIn& one : kStandIns) {
    if (same_text(one.symbol, symbol)) return find_behind_us(one.instead, Objects::kFirst);
  }
  return same_text(symbol, "closefrom") ? reinterpret_cast<void*>(&close_from)
                                        : reinterpret_cast<void*>(&not_there);
}

// Ours: nothing stands behind it.
bool is_own(const char* symbol) { return starts_with(symbol, "fathom_"); }

// Before glibc 2.34 these are in libraries of their own, which may come later.
bool may_come_later(const char* symbol) {
  return starts_with(symbol, "aio_") || starts_with(symbol, "lio_") || starts_with(symbol, "dl") ||
         same_text(symbol, "pthread_create") || same_text(symbol, "thrd_create");
}

// Originals whose functions this libc does not have.
constexpr uint32_t kMostAbsent = 64;
constinit void* const* absent[kMostAbsent] = {};
constinit uint32_t absent_count = 0;  // atomic

// Two that come at once note it twice, which is once more than needed.
void stand_in(void** original, const char* symbol) {
  if (is_own(symbol) || may_come_later(symbol)) return;
  const uint32_t place = __atomic_fetch_add(&absent_count, 1, __ATOMIC_ACQ_REL);
  if (place < kMostAbsent) absent[place] = original;
  __atomic_store_n(original, stand_in_for(symbol), __ATOMIC_RELEASE);
}

template <class Action>
void for_unknown(Action action) {
  for (size_t table = 0; table < kAllBindingsCount; table++) {
    const Bindings* rows = kAllBindings[table];
    if (rows == nullptr || rows->answer != nullptr) continue;
    for (size_t i = 0; i < rows->count; i++) {
      const Binding& row = rows->rows[i];
      if (__atomic_load_n(row.original, __ATOMIC_RELAXED) == nullptr) action(row);
    }
  }
}

SymbolName name_of(const Binding& row) {
  return {row.symbol, row.hash != 0 ? row.hash : gnu_hash_of(row.symbol)};
}

void take_originals(const Loaded& loaded) {
  Object object;
  read_object(loaded.base, loaded.dynamic, object);
  for_unknown([&](const Binding& row) {
    if (void* found = find_symbol(object, name_of(row)))
      __atomic_store_n(row.original, found, __ATOMIC_RELEASE);
  });
}

struct Walk {
  bool behind;          // which objects are looked at
  bool passed = false;  // this library
};

bool take_from(const Loaded& object, void* data) {
  auto* walk = static_cast<Walk*>(data);
  if (object.own) {
    walk->passed = true;
    return !walk->behind;
  }
  if (walk->behind == walk->passed) take_originals(object);
  return false;
}

bool take_path(const Loaded& object, void*) {
  if (object.own) guest.library = object.name;
  return object.own;
}

struct First {
  SymbolName of_libc;
  bool ours = false;
};

bool look_for_first(const Loaded& loaded, void* data) {
  auto* first = static_cast<First*>(data);
  first->ours = loaded.own;
  if (loaded.own) return true;
  Object object;
  read_object(loaded.base, loaded.dynamic, object);
  return find_symbol(object, first->of_libc) != nullptr;
}

}  // namespace

bool libc_lacks(void* const* original) {
  const uint32_t count = __atomic_load_n(&absent_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count && i < kMostAbsent; i++) {
    if (absent[i] == original) return true;
  }
  return false;
}

// Whoever comes while another thread, or the thread that it interrupted, is at it does the same
// once more: each step gives the same result, and nobody waits.
void find_original(void** original, const char* symbol) {
  note_first_loaded();
  const Objects which = may_come_later(symbol) ? Objects::kAll : Objects::kFirst;
  if (void* found = is_own(symbol) ? nullptr : find_behind_us(symbol, which)) {
    __atomic_store_n(original, found, __ATOMIC_RELEASE);
  } else {
    stand_in(original, symbol);
  }
}

void find_all_originals() {
  fill_tables();
  Walk behind{true}, before{false};
  visit_loaded(take_from, &behind);
  visit_loaded(take_from, &before);
  for_unknown([](const Binding& row) { stand_in(row.original, row.symbol); });
}

void note_own_path() { visit_loaded(take_path, nullptr); }

// Preloaded, we stand before libc. The program, or a sanitizer in it, may have functions of libc's
// names itself, which stand before ours and are to stay: the one that is looked for is libc's
// alone.
bool loaded_late() {
  First first{{"gnu_get_libc_version"}};
  visit_loaded(look_for_first, &first);
  return !first.ours;
}

}  // namespace fathom::guest
