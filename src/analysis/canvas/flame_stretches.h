// SPDX-License-Identifier: MIT
// A flame graph in the order of time: a function that was called again after another one has a
// node of its own each time; what follows without another one in between is one node. Threads stand
// beside each other, since they run at the same time.
//
// What is too small to be seen becomes part of a node "(N smaller)" as soon as the next one begins,
// so that memory grows with what is seen, and not with the calls.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/canvas/flame_columns.h"

namespace fathom::analysis {

// One thread at a time. The frames must outlive it; at() gives a reference until the next child().
class FlameStretches {
 public:
  static constexpr std::uint32_t kRoot = 0;

  // Nodes of less than `least` are too small.
  FlameStretches(FlameFrames& frames, std::int64_t least);

  // The last child of `parent` where it is of that frame, else a new one; `parent` itself where
  // there are as many nodes as there may be. `parent` is the root, or what this returned since it
  // was asked last for a child of a node around it.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame);
  FlameSum& at(std::uint32_t node) { return nodes_[node].sum; }
  // Nothing may be added afterwards.
  Flame shown();

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kMostNodes = 400'000;
  // Parents before their children, in the order of time: all behind a node that may still grow are
  // inside it.
  struct Node {
    std::uint32_t parent = kRoot;
    std::uint32_t frame = 0;
    std::uint32_t before = kNone;  // the child of its parent that came before it
    std::uint32_t last = kNone;    // its own last child
    std::int64_t folded = 0;       // stretches that this node stands for; 0: a function
    std::int64_t below = 0;        // what its children have, those that are complete
    FlameSum sum;
  };
  void close(std::uint32_t node);
  void fold(std::uint32_t node, std::int64_t total);

  FlameFrames* frames_;
  std::int64_t least_;
  std::vector<Node> nodes_;
  std::int64_t left_out_ = 0;
};

}  // namespace fathom::analysis
