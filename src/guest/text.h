// SPDX-License-Identifier: MIT
// Builds short texts in a given buffer, cut when it is full, always ended by NUL. No locale, no
// stdio.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace fathom::guest {

// Writes into somebody else's buffer, of at least one byte, which must stay. Never fails: what does
// not fit is cut.
class Text {
 public:
  Text(char* to, size_t room) : to_(to), room_(room) { to_[0] = 0; }

  Text& add(const char* text) { return add(text, strlen(text)); }
  Text& add(const char* text, size_t length) {
    if (length > room_ - 1 - length_) length = room_ - 1 - length_;
    memcpy(to_ + length_, text, length);
    length_ += length;
    to_[length_] = 0;
    return *this;
  }
  Text& add_number(uint64_t number) { return add_digits(number, 10); }
  Text& add_hex(uint64_t number) { return add_digits(number, 16); }
  [[nodiscard]] size_t length() const { return length_; }

 private:
  Text& add_digits(uint64_t number, unsigned base) {
    char digits[20];
    size_t at = sizeof digits;
    do {
      digits[--at] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    return add(digits + at, sizeof digits - at);
  }

  char* to_;
  size_t room_;
  size_t length_ = 0;
};

}  // namespace fathom::guest
