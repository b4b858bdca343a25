// SPDX-License-Identifier: MIT
// Room for a path that is not on the stack, which may be tiny, nor on the heap, which is the
// program's. A few rooms for the whole process; whoever finds them all taken does without.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fathom::guest {

// For whichever thread takes it. A signal handler that interrupts a holder takes another room; a
// forked child frees those of threads that it does not have (forget_all).
class Scratch {
 public:
  static constexpr size_t kRoom = 4352;

  Scratch() {
    for (int i = 0; i < kRooms && text_ == nullptr; i++) {
      if (__atomic_exchange_n(&taken[i], 1, __ATOMIC_ACQUIRE) != 0) continue;
      text_ = rooms[i];
      index_ = i;
    }
  }
  ~Scratch() {
    if (text_ != nullptr) __atomic_store_n(&taken[index_], 0, __ATOMIC_RELEASE);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] char* text() const { return text_; }  // nullptr: none free

  static void forget_all() {  // in a forked child
    for (uint32_t& one : taken) {
      if (one != 0) one = 0;
    }
  }

 private:
  static constexpr int kRooms = 8;
  static char rooms[kRooms][kRoom];
  static uint32_t taken[kRooms];  // atomic

  char* text_ = nullptr;
  int index_ = 0;
};

}  // namespace fathom::guest
