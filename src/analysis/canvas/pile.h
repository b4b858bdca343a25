// SPDX-License-Identifier: MIT
// Bytes that are written once, from front to back, and then looked at in any order. What is small
// stays in memory; the rest goes to a file without a name, in $TMPDIR or /var/tmp, that is gone
// with whoever holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/shared_view.h"

namespace fathom::analysis {

// One thread writes; after seal() any thread may look.
class Pile {
 public:
  explicit Pile(std::size_t buffer_bytes = std::size_t{1} << 20U) : most_(buffer_bytes) {}

  // The place of the first byte. A failure to write is kept until seal().
  std::uint64_t append(std::span<const std::byte> bytes);
  // Nothing may be written from now on. kIo where the disk is full.
  Status seal();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Of a sealed pile.
  [[nodiscard]] const std::byte* at(std::uint64_t place) const { return begin_ + place; }
  // What was looked at is no longer counted as our memory; the kernel still has it, if it can.
  void rest() const {
    if (view_.size() > 0) view_.drop_pages();
  }

 private:
  void flush();
  Status write(std::span<const std::byte> bytes);

  std::size_t most_;
  std::vector<std::byte> buffer_;
  std::optional<File> file_;
  SharedView view_;
  Status failure_;
  std::uint64_t size_ = 0;
  const std::byte* begin_ = nullptr;
};

}  // namespace fathom::analysis
