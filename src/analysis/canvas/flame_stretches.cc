// SPDX-License-Identifier: MIT
// The nodes lie in one vector in the order of time. Only the last child of a node can be open, so a
// small one that closes is at the vector's end and is folded by shortening it.
#include "analysis/canvas/flame_stretches.h"

#include <algorithm>

#include "base/sum.h"

namespace fathom::analysis {

FlameStretches::FlameStretches(FlameFrames& frames, std::int64_t least)
    : frames_(&frames), least_(least), nodes_(1) {}

std::uint32_t FlameStretches::child(std::uint32_t parent, std::uint32_t frame) {
  const std::uint32_t last = nodes_[parent].last;
  if (last != kNone && nodes_[last].folded == 0) {
    if (nodes_[last].frame == frame) return last;
    close(last);
  }
  if (nodes_.size() >= kMostNodes) {
    ++left_out_;
    return parent;
  }
  const auto made = static_cast<std::uint32_t>(nodes_.size());
  Node node;
  node.parent = parent;
  node.frame = frame;
  node.before = nodes_[parent].last;
  nodes_.push_back(node);
  nodes_[parent].last = made;
  return made;
}

// As deep as calls are inside each other, of which the index has a bound.
void FlameStretches::close(std::uint32_t node) {
  const std::uint32_t last = nodes_[node].last;
  if (last != kNone && nodes_[last].folded == 0) close(last);
  const Node& closed = nodes_[node];
  const std::int64_t total = plus(closed.sum.self, closed.below);
  Node& parent = nodes_[closed.parent];
  add_to(parent.below, total);
  parent.sum.start = std::min(parent.sum.start, closed.sum.start);
  if (total < least_) fold(node, total);
}

void FlameStretches::fold(std::uint32_t node, std::int64_t total) {
  nodes_.resize(node + 1);
  Node& small = nodes_[node];
  if (small.before == kNone || nodes_[small.before].folded == 0) {
    small.folded = 1;
    small.sum.self = total;
    small.below = 0;
    small.last = kNone;
    return;
  }
  Node& before = nodes_[small.before];
  before.folded++;
  add_to(before.sum.self, total);
  add_to(before.sum.calls, small.sum.calls);
  nodes_[small.parent].last = small.before;
  nodes_.pop_back();
}

Flame FlameStretches::shown() {
  if (const std::uint32_t last = nodes_[kRoot].last; last != kNone && nodes_[last].folded == 0)
    close(last);
  FlameColumns columns;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const std::int64_t total = plus(node.sum.self, node.below);
    const auto parent = static_cast<std::int32_t>(node.parent);
    if (i == kRoot) {
      columns.add(-1, "all", "", node.sum.self, total);
    } else if (node.folded > 0) {
      columns.add(parent, smaller_words(node.folded), "", node.sum.self, total);
    } else {
      const FlameFrames::Frame& frame = frames_->at(node.frame);
      columns.add(parent, frame.name, frame.layer, node.sum.self, total);
    }
    columns.flame.calls.back() = node.sum.calls;
    columns.flame.start.back() = node.sum.start == INT64_MAX ? 0 : node.sum.start;
  }
  columns.flame.total = columns.flame.totals.front();
  columns.flame.left_out = left_out_;
  return std::move(columns.flame);
}

}  // namespace fathom::analysis
