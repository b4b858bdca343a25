// SPDX-License-Identifier: MIT
// Sorts spans by begin and length and keeps a stack. Microsecond clocks make ties, which are
// decided by the layer's rank.
#include "analysis/import/nesting.h"

#include <algorithm>
#include <limits>

namespace fathom::analysis {
namespace {

// A span of no length that begins with another: inside it only if it may be. Two short calls behind
// each other in one microsecond look the same.
template <class Span>
bool holds(const Span& outer, const Span& inner) {
  if (inner.begin >= outer.end) return false;
  const bool undecided = inner.begin == outer.begin && inner.end == inner.begin;
  return !undecided || outer.rank == NestingRank::kApp || outer.rank < inner.rank;
}

}  // namespace

void Nesting::add(std::int64_t begin, std::int64_t dur, NestingRank rank) {
  spans_.push_back({begin, begin + dur, static_cast<std::uint32_t>(spans_.size()), rank});
}

void Nesting::finish() {
  // Of two equal spans the one that was written later, when it ended, is the outer one.
  std::ranges::sort(spans_, [](const Span& a, const Span& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.end != b.end ? a.end > b.end : a.order > b.order;
  });
  depths_.resize(spans_.size());
  std::vector<const Span*> open;
  for (const Span& span : spans_) {
    while (!open.empty() && span.begin >= open.back()->end) open.pop_back();
    std::size_t depth = open.size();
    while (depth > 0 && !holds(*open[depth - 1], span)) --depth;
    constexpr std::size_t kLimit = std::numeric_limits<std::uint16_t>::max();
    depths_[span.order] = static_cast<std::uint16_t>(std::min(depth, kLimit));
    if (span.end > span.begin) open.push_back(&span);
  }
  spans_ = {};
}

std::int32_t Nesting::next() { return given_ < depths_.size() ? depths_[given_++] : 0; }

}  // namespace fathom::analysis
