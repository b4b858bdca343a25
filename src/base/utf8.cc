// SPDX-License-Identifier: MIT
// A strict decoder, because DuckDB and Parquet refuse invalid UTF-8 and file names are arbitrary
// bytes. Skips ASCII eight bytes at a time: nearly all names are ASCII.
#include "base/utf8.h"

#include <cstdint>
#include <cstring>

#include "base/hex.h"

namespace fathom {

namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// The length that a first byte promises; 0 where it is no first byte.
std::size_t promised_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

bool in_range(char32_t value, std::size_t length) {
  if (length == 3) return value >= 0x800 && (value < 0xd800 || value > 0xdfff);
  if (length == 4) return value >= 0x10000 && value <= 0x10ffff;
  return true;  // a first byte of c2 or more cannot begin an overlong pair
}

// Texts are nearly always ASCII: eight bytes at a time.
std::size_t skip_ascii(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  while (at + sizeof(std::uint64_t) <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
    at += sizeof word;
  }
  while (at < text.size() && byte_at(text, at) < 0x80) ++at;
  return at;
}

std::size_t first_invalid(std::string_view text, std::size_t at) {
  for (at = skip_ascii(text, at); at < text.size(); at = skip_ascii(text, at)) {
    const CodePoint point = code_point_at(text, at);
    if (!point.valid) break;
    at += point.length;
  }
  return at;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const unsigned char first = byte_at(text, at);
  const CodePoint invalid{first, 1, false};
  const std::size_t length = promised_length(first);
  if (length == 1) return {first, 1, true};
  if (length == 0 || at + length > text.size()) return invalid;

  char32_t value = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned char next = byte_at(text, at + i);
    if ((next & 0xc0U) != 0x80U) return invalid;
    value = (value << 6U) | (next & 0x3fU);
  }
  if (!in_range(value, length)) return invalid;
  return {value, length, true};
}

bool is_valid_utf8(std::string_view text) { return first_invalid(text, 0) == text.size(); }

void append_escaped_byte(std::string& out, unsigned char byte) {
  out += "\\x";
  append_hex(out, byte);
}

std::string escape_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bad = first_invalid(text, at);
    out.append(text.substr(at, bad - at));
    if (bad < text.size()) append_escaped_byte(out, byte_at(text, bad));
    at = bad + 1;
  }
  return out;
}

}  // namespace fathom
