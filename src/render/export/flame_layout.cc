// SPDX-License-Identifier: MIT
// Frames are chosen by width: a caller is as wide as what it calls, so that whatever is chosen
// hangs together. No recursion: stacks may be deeper than ours.
#include "render/export/flame_layout.h"

#include <algorithm>

namespace fathom::render {
namespace {

double percent_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// How many levels each node lies below the root of the picture; nothing of what is not below it.
std::vector<std::optional<std::uint32_t>> levels_of(const FlameTree& tree) {
  std::vector<std::optional<std::uint32_t>> levels(tree.stacks.tree.size());
  levels[tree.root] = 0;
  for (std::uint32_t id = tree.root + 1; id < levels.size(); ++id) {
    const auto& above = levels[tree.stacks.tree.node(id).parent];
    if (above) levels[id] = *above + 1;
  }
  return levels;
}

// The nodes of the other tree that are reached by the same names.
class Counterparts {
 public:
  Counterparts(const FlameTree& tree, const FlameTree& base)
      : base_(base), nodes_(tree.stacks.tree.size()), met_(base.stacks.tree.size(), false) {
    std::unordered_map<std::string, std::uint32_t> names;
    for (std::uint32_t i = 0; i < tree.names.size(); ++i) names.emplace(key(tree.names[i]), i);
    std::unordered_map<std::uint64_t, std::uint32_t> children;
    for (std::uint32_t id = 1; id < base.stacks.tree.size(); ++id) {
      const auto found = names.find(key(base.name(id)));
      if (found == names.end()) continue;
      children.emplace(place(base.stacks.tree.node(id).parent, found->second), id);
    }
    pair(tree.root, base.root);
    for (std::uint32_t id = tree.root + 1; id < nodes_.size(); ++id) {
      const StackTree::Node& node = tree.stacks.tree.node(id);
      if (!nodes_[node.parent]) continue;
      const auto found = children.find(place(*nodes_[node.parent], node.frame));
      if (found != children.end()) pair(id, found->second);
    }
  }

  [[nodiscard]] double share(std::uint32_t node) const {
    return nodes_[node] ? percent_of(base_.totals[*nodes_[node]].amount, base_.total()) : 0;
  }
  // Of what nobody met, the outermost.
  [[nodiscard]] double gone() const {
    std::int64_t sum = 0;
    for (std::uint32_t id = base_.root + 1; id < met_.size(); ++id) {
      if (!met_[id] && met_[base_.stacks.tree.node(id).parent]) sum += base_.totals[id].amount;
    }
    return percent_of(sum, base_.total());
  }

 private:
  static std::string key(const FlameName& name) {
    return (name.kind == FlameKind::kGroup ? "g" : "f") + name.text;
  }
  static std::uint64_t place(std::uint32_t parent, std::uint32_t name) {
    return std::uint64_t{parent} << 32U | name;
  }
  void pair(std::uint32_t node, std::uint32_t other) {
    nodes_[node] = other;
    met_[other] = true;
  }

  const FlameTree& base_;
  std::vector<std::optional<std::uint32_t>> nodes_;  // of the base, by node
  std::vector<bool> met_;                            // by node of the base
};

// The widest, callers before what they call.
std::vector<std::uint32_t> chosen_nodes(const FlameTree& tree, const FlameLimits& limits,
                                        FlameLayout& layout) {
  const auto levels = levels_of(tree);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t id = tree.root; id < levels.size(); ++id) {
    const std::int64_t amount = tree.totals[id].amount;
    if (!levels[id] || amount <= 0) continue;
    if (*levels[id] >= limits.levels) {
      ++layout.too_deep;
    } else if (percent_of(amount, tree.total()) < limits.least_percent) {
      ++layout.too_narrow;
    } else {
      nodes.push_back(id);
    }
  }
  std::ranges::stable_sort(
      nodes, [&](auto a, auto b) { return tree.totals[a].amount > tree.totals[b].amount; });
  if (nodes.size() > limits.frames) {
    layout.too_narrow += nodes.size() - limits.frames;
    nodes.resize(limits.frames);
  }
  return nodes;
}

}  // namespace

FlameLayout lay_out(const FlameTree& tree, const FlameTree* base, const FlameLimits& limits) {
  FlameLayout layout;
  layout.most_levels = limits.levels;
  const std::vector<std::uint32_t> nodes = chosen_nodes(tree, limits, layout);
  std::optional<Counterparts> others;
  if (base != nullptr) layout.gone = others.emplace(tree, *base).gone();
  // The widest of each caller first, as they are sorted.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> called;
  for (const std::uint32_t id : nodes) {
    if (id != tree.root) called[tree.stacks.tree.node(id).parent].push_back(id);
  }
  std::vector<FlameBox> open = {
      {.node = tree.root, .level = 0, .x = 0, .width = 100, .before = {}}};
  if (nodes.empty()) open.clear();
  while (!open.empty()) {
    FlameBox box = open.back();
    open.pop_back();
    if (others) box.before = others->share(box.node);
    layout.boxes.push_back(box);
    layout.levels = std::max<std::size_t>(layout.levels, box.level + 1);
    const std::vector<std::uint32_t>& inside = called[box.node];
    double x = box.x;
    const std::size_t first = open.size();
    for (const std::uint32_t id : inside) {
      const double width = percent_of(tree.totals[id].amount, tree.total());
      open.push_back({.node = id, .level = box.level + 1, .x = x, .width = width, .before = {}});
      x += width;
    }
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
  }
  return layout;
}

}  // namespace fathom::render
