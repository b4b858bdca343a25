// SPDX-License-Identifier: MIT
// Long columns in large pages where the machine has them: with small ones, a fifth of the time of
// packing went into the kernel's handling of fresh pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace fathom::trace {

// An allocator without state.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class Other>
  explicit LargePages(const LargePages<Other>&) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    void* memory = ::operator new (bytes, std::align_val_t{kPage});
    ::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without large pages all works as well
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kLarge) {
      ::operator delete(memory);
    } else {
      ::operator delete (memory, std::align_val_t{kPage});
    }
  }
  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::size_t kLarge = 2 * kPage;
};

template <class T>
using Column = std::vector<T, LargePages<T>>;

}  // namespace fathom::trace
