// SPDX-License-Identifier: MIT
// Memory for those who ask before the program's allocator is known: the loader, while it looks for
// that allocator on our behalf. It is never used again, so that freeing it is nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace fathom::guest::heap {

class EarlyMemory {
 public:
  // Zeros; nullptr when there is no more.
  static void* take(size_t alignment, size_t size) {
    if (alignment < kLeast) alignment = kLeast;
    if (size > kRoom || alignment > kRoom) return nullptr;
    const size_t begin = __atomic_fetch_add(&used, size + alignment + kLeast, __ATOMIC_RELAXED);
    if (begin + size + alignment + kLeast > kRoom) return nullptr;
    // What lies before the memory that is given away tells its size.
    const auto first = reinterpret_cast<uintptr_t>(room) + begin + kLeast;
    const uintptr_t at = (first + alignment - 1) & ~(uintptr_t{alignment} - 1);
    auto* memory = room + (at - reinterpret_cast<uintptr_t>(room));
    memcpy(memory - sizeof size, &size, sizeof size);
    return memory;
  }

  static bool holds(const void* memory) {
    return reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(room) < kRoom;
  }

  static size_t size_of(const void* memory) {
    size_t size;
    memcpy(&size, static_cast<const uint8_t*>(memory) - sizeof size, sizeof size);
    return size;
  }

 private:
  static constexpr size_t kLeast = 16;
  static constexpr size_t kRoom = 1 << 16;
  alignas(64) static inline constinit uint8_t room[kRoom] = {};
  static inline constinit size_t used = 0;  // atomic
};

}  // namespace fathom::guest::heap
