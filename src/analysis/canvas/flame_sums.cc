// SPDX-License-Identifier: MIT
// Adds up stacks in a tree with a bounded number of nodes. Parents always stand before their
// children, so each sum over the tree is one loop and needs no recursion.
#include "analysis/canvas/flame_sums.h"

#include <algorithm>

#include "base/sum.h"

namespace fathom::analysis {

std::uint32_t FlameSums::child(std::uint32_t parent, std::uint32_t frame) {
  if (tree_.size() < kMostNodes) return tree_.child(parent, frame);
  ++left_out_;
  return parent;
}

FlameSum& FlameSums::at(std::uint32_t node) {
  if (node >= sums_.size()) sums_.resize(tree_.size());
  return sums_[node];
}

std::vector<FlameSum> FlameSums::totals() const {
  std::vector<FlameSum> all = sums_;
  all.resize(tree_.size());
  for (std::uint32_t id = tree_.size() - 1; id > StackTree::kRoot; --id) {
    FlameSum& parent = all[tree_.node(id).parent];
    add_to(parent.self, all[id].self);
    parent.start = std::min(parent.start, all[id].start);
  }
  return all;
}

std::int64_t FlameSums::total() const {
  std::int64_t all = 0;
  for (const FlameSum& sum : sums_) add_to(all, sum.self);
  return all;
}

FlameSums FlameSums::inverted() const {
  FlameSums out(*frames_);
  out.left_out_ = left_out_;
  for (std::uint32_t id = 1; id < std::min<std::size_t>(tree_.size(), sums_.size()); ++id) {
    if (sums_[id].self == 0 && sums_[id].calls == 0) continue;
    std::uint32_t node = StackTree::kRoot;
    for (std::uint32_t at = id; at != StackTree::kRoot; at = tree_.node(at).parent)
      node = out.child(node, tree_.node(at).frame);
    FlameSum& sum = out.at(node);
    add_to(sum.self, sums_[id].self);
    add_to(sum.calls, sums_[id].calls);
    sum.start = std::min(sum.start, sums_[id].start);
  }
  return out;
}

namespace {

struct Smaller {
  std::int64_t nodes = 0, total = 0, calls = 0, start = INT64_MAX;
};

}  // namespace

// Parents have smaller numbers than their children, so one walk down decides.
Flame FlameSums::shown(double least) const {
  const std::vector<FlameSum> all = totals();
  const std::int64_t whole = all[StackTree::kRoot].self;
  const auto bound =
      static_cast<std::int64_t>(static_cast<double>(whole) * std::clamp(least, 0.0, 1.0));
  FlameColumns shown;
  std::vector<std::int32_t> place(tree_.size(), -1);  // -1: it is not shown
  std::vector<Smaller> smaller(1);                    // by node of the picture
  place[StackTree::kRoot] = shown.add(-1, "all", "", 0, whole);
  for (std::uint32_t id = 1; id < tree_.size(); ++id) {
    const auto above = place[tree_.node(id).parent];
    if (above < 0) continue;
    const FlameSum own = id < sums_.size() ? sums_[id] : FlameSum();
    if (all[id].self < bound) {
      Smaller& rest = smaller[static_cast<std::size_t>(above)];
      rest.nodes++;
      add_to(rest.total, all[id].self);
      add_to(rest.calls, own.calls);
      rest.start = std::min(rest.start, all[id].start);
      continue;
    }
    const FlameFrames::Frame& frame = frames_->at(tree_.node(id).frame);
    place[id] = shown.add(above, frame.name, frame.layer, own.self, all[id].self);
    shown.flame.calls.back() = own.calls;
    shown.flame.start.back() = all[id].start;
    smaller.emplace_back();
  }
  for (std::size_t above = 0; above < smaller.size(); ++above) {
    const Smaller& rest = smaller[above];
    if (rest.nodes == 0) continue;
    shown.add(static_cast<std::int32_t>(above), smaller_words(rest.nodes), "", rest.total,
              rest.total);
    shown.flame.calls.back() = rest.calls;
    shown.flame.start.back() = rest.start;
  }
  shown.flame.start.front() = whole == 0 ? 0 : all[StackTree::kRoot].start;
  shown.flame.total = whole;
  shown.flame.left_out = left_out_;
  return std::move(shown.flame);
}

}  // namespace fathom::analysis
