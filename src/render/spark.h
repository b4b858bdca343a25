// SPDX-License-Identifier: MIT
// A series of numbers as one line of small columns: ▁▂▃▄▅▆▇█.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fathom::render {

// From zero (or the least number, if that is below) to the greatest. A longer series is averaged
// into `width` columns; a column without a finite number is a blank.
std::string sparkline(std::span<const double> values, std::size_t width = 40);

}  // namespace fathom::render
