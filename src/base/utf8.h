// SPDX-License-Identifier: MIT
// UTF-8: is a text valid, what stands at a position, and the house's way to show bytes that are not
// (`\xNN`). Valid is what RFC 3629 allows: no overlong forms, no surrogates, nothing above
// U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

// What stands at one place of a text, which need not be valid.
struct CodePoint {
  char32_t value;      // the byte itself where invalid
  std::size_t length;  // bytes; 1 where invalid
  bool valid;
};

// What stands at text[at]; `at` must be inside the text.
CodePoint code_point_at(std::string_view text, std::size_t at);

bool is_valid_utf8(std::string_view text);

// The text with each byte that is no part of valid UTF-8 as `\xNN` (lower case). Two different
// texts may become one only if one of them already holds a literal `\xNN`.
std::string escape_invalid_utf8(std::string_view text);

// Appends one byte as `\xNN`.
void append_escaped_byte(std::string& out, unsigned char byte);

}  // namespace fathom
