// SPDX-License-Identifier: MIT
// A part of a file mapped shared, which other processes may cut short at any moment. A page that is
// gone would end us with SIGBUS: here it reads as zeros from then on, is nobody's but ours, and the
// view says so. The only place where that signal is dealt with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace fathom {

// Owns the mapping, not the file. A view is one thread's; the signal may come in any thread that
// touches the memory. map() fails where the file cannot be mapped or there are as many views as the
// handler has places for.
class SharedView {
 public:
  // The first `bytes` of the file. The descriptor is not needed afterwards.
  static Result<SharedView> map(int fd, std::size_t bytes, bool writable);
  SharedView() = default;
  SharedView(SharedView&& other) noexcept { swap(other); }
  SharedView& operator=(SharedView&& other) noexcept {
    swap(other);
    return *this;
  }
  SharedView(const SharedView&) = delete;
  SharedView& operator=(const SharedView&) = delete;
  ~SharedView();

  [[nodiscard]] void* memory() const { return memory_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Pages that were touched when they were gone.
  [[nodiscard]] std::uint64_t missing_pages() const;
  // Looks at the file again, which has its size again: nothing is missing then.
  Status map_again(int fd);
  // Pages that were looked at are no longer part of our memory, until they are again.
  void drop_pages() const;

 private:
  void swap(SharedView& other) noexcept;

  void* memory_ = nullptr;
  std::size_t size_ = 0;
  bool writable_ = false;
  std::uint32_t place_ = 0;  // in the list of what the handler looks after
};

// In a child, before exec: SIGBUS does what it did before the first view was made.
void restore_bus_signal();

}  // namespace fathom
