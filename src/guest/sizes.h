// SPDX-License-Identifier: MIT
// Sizes as people write them in variables, read as the command line reads them (base/text.h,
// parse_bytes): "4096", "64k", "1.5GiB", powers of 1024.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fathom::guest {

constexpr uint64_t kMostBytes = INT64_MAX;  // what is larger is as good as this

// What a text says.
struct Size {
  bool known;  // the text is a size
  uint64_t bytes;
};

namespace sizes {

// 10 x the power of 1024, -1 where the text is no unit.
constexpr int shift_of(const char* unit) {
  constexpr char kLetters[] = "kmgtp";
  while (*unit == ' ' || *unit == '\t') unit++;
  int shift = 0;
  for (int i = 0; kLetters[i] != 0; i++) {
    if ((*unit | 0x20) == kLetters[i]) shift = 10 * (i + 1);
  }
  if (shift != 0) unit++;
  if (shift != 0 && *unit == 'i') {
    if ((unit[1] | 0x20) != 'b') return -1;
    unit++;
  }
  if ((*unit | 0x20) == 'b') unit++;
  while (*unit == ' ' || *unit == '\t') unit++;
  return *unit == 0 ? shift : -1;
}

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

}  // namespace sizes

constexpr Size parse_size(const char* text) {
  constexpr uint64_t kMostFraction = 1'000'000'000;  // nine digits are enough for any unit
  unsigned __int128 whole = 0;
  uint64_t fraction = 0, scale = 1;
  bool digits = false;
  for (; sizes::is_digit(*text); text++, digits = true) {
    if (whole <= kMostBytes) whole = whole * 10 + static_cast<unsigned>(*text - '0');
  }
  if (*text == '.') {
    for (text++; sizes::is_digit(*text); text++, digits = true) {
      if (scale >= kMostFraction) continue;
      fraction = fraction * 10 + static_cast<unsigned>(*text - '0');
      scale *= 10;
    }
  }
  const int shift = sizes::shift_of(text);
  if (!digits || shift < 0) return {false, 0};
  if (whole > kMostBytes >> shift) return {true, kMostBytes};
  const auto part = (static_cast<unsigned __int128>(fraction) << shift) / scale;
  const unsigned __int128 bytes = (whole << shift) + part;
  return {true, bytes > kMostBytes ? kMostBytes : static_cast<uint64_t>(bytes)};
}

}  // namespace fathom::guest
