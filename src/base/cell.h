// SPDX-License-Identifier: MIT
// What is in a cell of a Table, for those who count on a kind of value there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/table.h"

namespace fathom {

// 0 where the cell is no integer, "" where it is no text.
[[nodiscard]] std::int64_t int_of(const Value& cell);
[[nodiscard]] std::string text_of(const Value& cell);

// Of any number; nothing for NULL, for what is none, and for what is not finite.
[[nodiscard]] std::optional<double> number_in(const Value& cell);

}  // namespace fathom
