// SPDX-License-Identifier: MIT
// The bins of a window: powers of two, so that the bins of one width lie inside those of the next.
#include "analysis/canvas/boxes.h"

#include <algorithm>
#include <bit>

#include "analysis/canvas/lane_tree.h"

namespace fathom::analysis {

BinnedWindow binned(const Window& window, std::int64_t width) {
  const std::int64_t from = std::clamp(window.from, -kFarthestTime, kFarthestTime - 1);
  const std::int64_t to = std::clamp(window.to, from + 1, kFarthestTime);
  const auto pixels = static_cast<std::uint64_t>(std::max<std::int64_t>(width, 1));
  const std::uint64_t pixel = (static_cast<std::uint64_t>(to - from) + pixels - 1) / pixels;
  const auto level = static_cast<unsigned>(std::bit_width(pixel - 1));
  const std::int64_t bin = std::int64_t{1} << level;
  return {{from & -bin, (to + bin - 1) & -bin}, level};
}

}  // namespace fathom::analysis
