// SPDX-License-Identifier: MIT
// Sums of numbers that a damaged file may have made up: they stop at the largest instead of
// overflowing.
#pragma once

#include <cstdint>

namespace fathom {

[[nodiscard]] constexpr std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return b > 0 ? INT64_MAX : INT64_MIN + 1;
  return result;
}

[[nodiscard]] constexpr std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return b < 0 ? INT64_MAX : INT64_MIN + 1;
  return result;
}

constexpr void add_to(std::int64_t& sum, std::int64_t more) { sum = plus(sum, more); }

}  // namespace fathom
