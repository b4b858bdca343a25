// SPDX-License-Identifier: MIT
// Stacks that begin alike share their nodes: memory grows with distinct stacks, not with samples.
// What a frame is, a function or a function of a module, is up to whoever numbers them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fathom::analysis {

// Grows only: ids stay valid. One thread at a time.
class StackTree {
 public:
  static constexpr std::uint32_t kRoot = 0;
  struct Node {
    std::uint32_t parent = kRoot;
    std::uint32_t frame = 0;
  };

  StackTree() : nodes_(1) {}
  // The node of that frame under `parent`, made when it is new.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame);
  // Nodes 1 to size() - 1; parents stand before their children.
  [[nodiscard]] const Node& node(std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  // Frames from the innermost to the outermost.
  [[nodiscard]] std::vector<std::uint32_t> path(std::uint32_t id) const;

 private:
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

// Stacks with two sums each: how often, and how much.
struct StackSums {
  struct Sum {
    std::int64_t count = 0;
    std::int64_t amount = 0;
  };
  StackTree tree;
  std::vector<Sum> sums;  // by node

  void add(std::uint32_t node, std::int64_t count, std::int64_t amount);
  // By node: its own sums and those of all that it called.
  [[nodiscard]] std::vector<Sum> totals() const;
};

}  // namespace fathom::analysis
