// SPDX-License-Identifier: MIT
// A tree of stacks while it is added up, and how it is made small enough for a picture.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/canvas/flame_columns.h"
#include "analysis/stack_tree.h"

namespace fathom::analysis {

// One thread at a time. The frames must outlive it; at() gives a reference until the next at().
class FlameSums {
 public:
  static constexpr std::uint32_t kRoot = StackTree::kRoot;

  explicit FlameSums(FlameFrames& frames) : frames_(&frames) {}
  // `parent` itself where the tree has as many nodes as it may have.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame);
  FlameSum& at(std::uint32_t node);

  // The same stacks from their innermost function on.
  [[nodiscard]] FlameSums inverted() const;
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] bool is_empty() const { return tree_.size() == 1; }
  // As columns, without what is too small to be seen.
  [[nodiscard]] Flame shown(double least) const;

 private:
  static constexpr std::uint32_t kMostNodes = 2'000'000;
  [[nodiscard]] std::vector<FlameSum> totals() const;

  FlameFrames* frames_;
  StackTree tree_;
  std::vector<FlameSum> sums_;  // by node
  std::int64_t left_out_ = 0;
};

}  // namespace fathom::analysis
