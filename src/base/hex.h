// SPDX-License-Identifier: MIT
// Bytes as hexadecimal digits, two each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fathom {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

inline void append_hex(std::string& out, unsigned char byte) {
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 15U];
}

[[nodiscard]] inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) append_hex(text, byte);
  return text;
}

[[nodiscard]] inline std::string to_hex(std::string_view bytes) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace fathom
