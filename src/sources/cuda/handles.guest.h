// SPDX-License-Identifier: MIT
// What is known of the driver's handles and addresses: a table of fixed size, without locks, that
// a signal handler or another thread may meet at any step. It is mapped when first needed. Who
// finds it full does without, and is told so.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "guest/syscalls.h"

namespace fathom::guest::cuda {

struct Known {
  uint64_t first = 0;  // never 0 in an entry
  uint64_t second = 0;
};

// Never freed: hooks may run until the process ends.
template <uint32_t kSlots>
class HandleTable {
 public:
  // Whether there was room. A handle that is known gets the new values.
  bool put(uint64_t handle, Known known) {
    Slot* slot = handle > kTaken ? claim(handle) : nullptr;
    if (slot == nullptr) return false;
    __atomic_store_n(&slot->second, known.second, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->first, known.first, __ATOMIC_RELEASE);
    return true;
  }

  // first is 0 where nothing is known.
  [[nodiscard]] Known find(uint64_t handle) const {
    const Slot* slot = handle > kTaken ? search(handle) : nullptr;
    if (slot == nullptr) return {};
    const uint64_t first = __atomic_load_n(&slot->first, __ATOMIC_ACQUIRE);
    return {first, __atomic_load_n(&slot->second, __ATOMIC_RELAXED)};
  }

  // Forgets it, and tells what was known: one of several threads that ask gets it.
  Known take(uint64_t handle) {
    Slot* slot = handle > kTaken ? search(handle) : nullptr;
    if (slot == nullptr) return {};
    const uint64_t second = __atomic_load_n(&slot->second, __ATOMIC_RELAXED);
    const uint64_t first = __atomic_exchange_n(&slot->first, 0, __ATOMIC_ACQ_REL);
    if (first != 0) __atomic_store_n(&slot->key, kTaken, __ATOMIC_RELEASE);
    return {first, second};
  }

  // Forgets every entry whose second value is one of two.
  void forget(uint64_t second, uint64_t other) {
    Slot* slots = __atomic_load_n(&slots_, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; slots != nullptr && i < kSlots; i++) {
      const uint64_t key = __atomic_load_n(&slots[i].key, __ATOMIC_ACQUIRE);
      const uint64_t value = __atomic_load_n(&slots[i].second, __ATOMIC_RELAXED);
      if (key > kTaken && (value == second || value == other)) take(key);
    }
  }

 private:
  struct Slot {
    uint64_t key;  // atomic; 0: never used
    uint64_t first, second;
  };
  static constexpr uint64_t kTaken = 1;  // used before, free now
  static constexpr uint32_t kProbes = 128;

  static uint32_t place(uint64_t handle) {
    return static_cast<uint32_t>((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % kSlots;
  }

  [[nodiscard]] Slot* search(uint64_t handle) const {
    Slot* slots = __atomic_load_n(&slots_, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; slots != nullptr && i < kProbes; i++) {
      Slot* slot = &slots[(place(handle) + i) % kSlots];
      const uint64_t key = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);
      if (key == handle) return slot;
      if (key == 0) return nullptr;
    }
    return nullptr;
  }

  Slot* claim(uint64_t handle) {
    if (Slot* known = search(handle)) return known;
    Slot* slots = mapped();
    for (uint32_t i = 0; slots != nullptr && i < kProbes; i++) {
      Slot* slot = &slots[(place(handle) + i) % kSlots];
      uint64_t key = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);
      if (key <= kTaken && __atomic_compare_exchange_n(&slot->key, &key, handle, false,
                                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return slot;
    }
    return nullptr;
  }

  Slot* mapped() {
    Slot* slots = __atomic_load_n(&slots_, __ATOMIC_ACQUIRE);
    if (slots != nullptr) return slots;
    auto* fresh = static_cast<Slot*>(sys_mmap(kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
    // Where two threads come at once, the second mapping stays unused: it was never touched.
    if (fresh != nullptr && __atomic_compare_exchange_n(&slots_, &slots, fresh, false,
                                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return fresh;
    return slots;
  }

  Slot* slots_ = nullptr;
};

}  // namespace fathom::guest::cuda
