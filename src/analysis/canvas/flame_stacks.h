// SPDX-License-Identifier: MIT
// What flame graphs of calls and of regions share: which call is inside of which, what each has for
// itself, and how a tree becomes a picture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/canvas/boxes.h"
#include "analysis/canvas/canvas.h"
#include "analysis/canvas/flame.h"
#include "analysis/canvas/flame_sums.h"
#include "base/result.h"
#include "base/sum.h"

namespace fathom::analysis {

// Of a picture in the order of time, however wide it is: what is smaller is never seen.
inline constexpr double kLeastStretch = 0.00001;

enum class CallWeight : std::uint8_t { kTime, kBytes, kCalls };

// What an event has for itself: all of it, less what the events inside it have.
template <class Tree>
class CallStacks {
 public:
  CallStacks(Tree& tree, CallWeight weight, const Window& window)
      : tree_(tree), weight_(weight), window_(window) {}

  // Nothing is open; calls that come now are below `root`.
  void begin(std::uint32_t root) {
    open_.clear();
    root_ = root;
  }
  // `tells`: its bytes are not those of another layer.
  void add(const CanvasEvent& event, std::uint32_t frame, bool wanted, bool tells) {
    const std::int64_t begin = std::max(event.ts, window_.from);
    const std::int64_t end = std::min(event.ts + event.dur, window_.to);
    while (!open_.empty() && (open_.back().depth >= event.depth || open_.back().end < end))
      open_.pop_back();
    if (!wanted) return;
    const std::int64_t amount = amount_of(event, end - begin, tells);
    if (!open_.empty() && weight_ != CallWeight::kCalls) take(open_.back(), amount);
    const std::uint32_t node = tree_.child(open_.empty() ? root_ : open_.back().node, frame);
    auto& sum = tree_.at(node);
    add_to(sum.self, amount);
    sum.calls++;
    sum.start = std::min(sum.start, event.ts);
    open_.push_back({event.depth, end, node, amount});
  }

 private:
  struct Open {
    std::int64_t depth, end;
    std::uint32_t node;
    std::int64_t left;  // of its own amount
  };
  [[nodiscard]] std::int64_t amount_of(const CanvasEvent& event, std::int64_t time,
                                       bool tells) const {
    if (weight_ == CallWeight::kTime) return time;
    if (weight_ == CallWeight::kCalls) return 1;
    return tells ? event.bytes : 0;
  }
  // A call cannot have less than nothing: a read() inside may move more than was asked for.
  void take(Open& open, std::int64_t amount) {
    amount = std::min(amount, open.left);
    open.left -= amount;
    tree_.at(open.node).self -= amount;
  }

  Tree& tree_;
  CallWeight weight_;
  Window window_;
  std::uint32_t root_ = Tree::kRoot;
  std::vector<Open> open_;
};

[[nodiscard]] inline Flame finished_flame(Flame flame, const FlameOptions& options,
                                          std::string unit) {
  flame.weight = options.weight;
  flame.unit = std::move(unit);
  return flame;
}

[[nodiscard]] inline Flame shown_tree(const FlameSums& sums, const FlameOptions& options) {
  return options.invert ? sums.inverted().shown(options.least) : sums.shown(options.least);
}

[[nodiscard]] inline std::int64_t least_stretch(std::int64_t total, const FlameOptions& options) {
  const double share = std::clamp(options.least, kLeastStretch, 1.0);
  return static_cast<std::int64_t>(static_cast<double>(total) * share);
}

[[nodiscard]] inline Status check_order(const FlameOptions& options) {
  if (!options.in_time || !options.invert) return {};
  return usage_error("callers below their functions are in no order of time",
                     "leave out order=time or invert=1");
}

}  // namespace fathom::analysis
