// SPDX-License-Identifier: MIT
// Bytes of a thread's stack as they were when it was sampled, from the stack pointer on.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace fathom::symbols {

// Owns nothing: the bytes lie in the ring's record, and hold as long as that.
struct StackCopy {
  std::uint64_t begin = 0;  // the address of the first byte
  std::string_view bytes;

  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address) const {
    std::uint64_t value = 0;
    if (address < begin || bytes.size() < sizeof value ||
        address - begin > bytes.size() - sizeof value)
      return std::nullopt;
    std::memcpy(&value, bytes.data() + (address - begin), sizeof value);
    return value;
  }
  // Whether that word was on the stack and not copied.
  [[nodiscard]] bool is_behind(std::uint64_t address) const {
    constexpr std::uint64_t kMostStack = std::uint64_t{1} << 32U;
    return address >= begin && address - begin + sizeof address > bytes.size() &&
           address - begin < kMostStack;
  }
};

}  // namespace fathom::symbols
