// SPDX-License-Identifier: MIT
// A file without a name, gone with whoever holds it. Made when something is written first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace fathom::analysis {

// One thread at a time. kIo where the file cannot be made or written: a full disk, mostly.
class RunFile {
 public:
  Status append(std::span<const std::byte> bytes);
  // kIo where the file has not that many.
  Status read(std::uint64_t from, std::span<std::byte> bytes) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::optional<File> file_;
  std::uint64_t size_ = 0;
};

}  // namespace fathom::analysis
