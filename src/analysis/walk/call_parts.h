// SPDX-License-Identifier: MIT
// Where the time of calls went, level by level: whatever went on in a call's thread while it
// lasted, as a tree whose parts add up to the call. At every moment the time is that of the deepest
// level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fathom::analysis {

// Something inside a call. Of levels that go on at once the one with the greater rank is inside.
struct CallPiece {
  std::int64_t ts = 0;
  std::int64_t dur = 0;    // 0: a moment
  std::int64_t rank = 0;   // layers from the top down, and depth inside a layer
  std::uint32_t kind = 0;  // whatever tells layers and names apart
};

struct CallNode {
  std::size_t parent = 0;  // of the root, itself
  std::uint32_t kind = 0;
  std::int64_t calls = 0;
  std::int64_t self = 0;  // ns in which nothing inside it went on
};

// One tree for all calls that were added: a level of one name inside the same level is one node,
// whichever call it was in. One thread at a time.
class CallParts {
 public:
  // `kind` of the calls themselves: the root.
  explicit CallParts(std::uint32_t kind);

  // A call and what went on in it; pieces that reach beyond it are cut.
  void add(const CallPiece& call, const std::vector<CallPiece>& inside);

  // The root first, each behind the one that it lies in.
  [[nodiscard]] const std::vector<CallNode>& nodes() const { return nodes_; }
  // Of a node with all that lies in it, by its place.
  [[nodiscard]] std::vector<std::int64_t> totals() const;

 private:
  std::size_t inside_of(std::size_t parent, std::uint32_t kind);

  std::vector<CallNode> nodes_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> places_;
};

}  // namespace fathom::analysis
