// SPDX-License-Identifier: MIT
// The three tolerant ways to read a cell. A missing or odd value becomes 0, "" or nothing here, so
// that reports need no branch for each cell.
#include "base/cell.h"

#include <cmath>

namespace fathom {

std::int64_t int_of(const Value& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell.data);
  return number == nullptr ? 0 : *number;
}

std::string text_of(const Value& cell) {
  const auto* text = std::get_if<std::string>(&cell.data);
  return text == nullptr ? "" : *text;
}

std::optional<double> number_in(const Value& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.data)) return static_cast<double>(*whole);
  if (const auto* large = std::get_if<std::uint64_t>(&cell.data))
    return static_cast<double>(*large);
  const auto* real = std::get_if<double>(&cell.data);
  if (real == nullptr || !std::isfinite(*real)) return std::nullopt;
  return *real;
}

}  // namespace fathom
