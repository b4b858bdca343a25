// SPDX-License-Identifier: MIT
// A tree of stacks while it is added up, and how it is made small enough for a picture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/canvas/flame.h"
#include "analysis/stack_tree.h"

namespace fathom::analysis {

// One thread at a time.
class FlameSums {
 public:
  struct Frame {
    std::string name;
    std::string layer;
  };
  struct Sum {
    std::int64_t self = 0;
    std::int64_t calls = 0;
    std::int64_t start = INT64_MAX;
  };

  std::uint32_t frame(std::string_view name, std::string_view layer);
  // `parent` itself where the tree has as many nodes as it may have.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame);
  Sum& at(std::uint32_t node);

  // The same stacks from their innermost function on.
  [[nodiscard]] FlameSums inverted() const;
  // As columns, without what is too small to be seen.
  [[nodiscard]] Flame shown(double least) const;

 private:
  static constexpr std::uint32_t kMostNodes = 2'000'000;
  [[nodiscard]] std::vector<Sum> totals() const;

  std::vector<Frame> frames_;
  std::unordered_map<std::string, std::uint32_t> frame_numbers_;
  StackTree tree_;
  std::vector<Sum> sums_;  // by node
  std::int64_t left_out_ = 0;
};

}  // namespace fathom::analysis
