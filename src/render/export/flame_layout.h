// SPDX-License-Identifier: MIT
// Which frames of a tree are drawn, and where. However many stacks there are, a picture stays small
// enough for a browser and a mail: frames that would be too narrow to see, or too far from the
// first level, are left out and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "render/export/flame_tree.h"

namespace fathom::render {

struct FlameLimits {
  std::size_t frames = 6000;  // the widest ones
  std::size_t levels = 1000;
  double least_percent = 0.01;  // of the whole
};

struct FlameBox {
  std::uint32_t node = 0;
  std::uint32_t level = 0;
  double x = 0;                  // percent of the whole, as width
  double width = 0;              // the share
  std::optional<double> before;  // the share in the other tree, if there is one
};

struct FlameLayout {
  std::vector<FlameBox> boxes;  // each behind its caller, and all that it called behind it
  std::size_t levels = 0;
  std::size_t too_narrow = 0;  // frames that are left out
  std::size_t too_deep = 0;    // below level `most_levels`
  std::size_t most_levels = 0;
  double gone = 0;  // percent of the other tree's time in functions that were called so only there
};

[[nodiscard]] FlameLayout lay_out(const FlameTree& tree, const FlameTree* base,
                                  const FlameLimits& limits = {});

}  // namespace fathom::render
