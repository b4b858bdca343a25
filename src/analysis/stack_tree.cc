// SPDX-License-Identifier: MIT
// Nodes are found by a hash of their parent and frame, so that deep stacks cost no recursion.
#include "analysis/stack_tree.h"

namespace fathom::analysis {

std::uint32_t StackTree::child(std::uint32_t parent, std::uint32_t frame) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
  const auto [found, is_new] = children_.try_emplace(key, size());
  if (is_new) nodes_.push_back({parent, frame});
  return found->second;
}

std::vector<std::uint32_t> StackTree::path(std::uint32_t id) const {
  std::vector<std::uint32_t> frames;
  for (; id != kRoot; id = nodes_[id].parent) frames.push_back(nodes_[id].frame);
  return frames;
}

void StackSums::add(std::uint32_t node, std::int64_t count, std::int64_t amount) {
  if (node >= sums.size()) sums.resize(tree.size());
  sums[node].count += count;
  sums[node].amount += amount;
}

std::vector<StackSums::Sum> StackSums::totals() const {
  std::vector<Sum> all = sums;
  all.resize(tree.size());
  for (std::uint32_t id = tree.size() - 1; id > StackTree::kRoot; --id) {
    Sum& parent = all[tree.node(id).parent];
    parent.count += all[id].count;
    parent.amount += all[id].amount;
  }
  return all;
}

}  // namespace fathom::analysis
