// SPDX-License-Identifier: MIT
// Horizontal bars, to an eighth of a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace fathom::render {

// A bar that fills `share` (0 to 1) of `width` columns. What is more than nothing is seen.
std::string bar(double share, std::size_t width);

struct Bin {
  std::string label;
  std::int64_t count = 0;
};

// A line for each bin: label, bar (the fullest bin's is `width` long), count, percentage of all.
std::string histogram(std::span<const Bin> bins, std::size_t width = 40);

}  // namespace fathom::render
