// SPDX-License-Identifier: MIT
// Time that is covered by intervals, with what overlaps counted once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace fathom::analysis {

// The union of intervals that come in the order of their begins.
struct Wall {
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  std::int64_t wall = 0;

  // The part that was not covered yet.
  std::pair<std::int64_t, std::int64_t> add(std::int64_t begin, std::int64_t end) {
    begin = std::max(begin, until);
    if (end <= begin) return {begin, begin};
    until = end;
    wall += end - begin;
    return {begin, end};
  }
};

}  // namespace fathom::analysis
