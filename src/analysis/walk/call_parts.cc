// SPDX-License-Identifier: MIT
// A sweep over begin and end points. The time between two points belongs to the deepest piece that
// is open, so the parts add up exactly.
#include "analysis/walk/call_parts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace fathom::analysis {
namespace {

// What changes at a moment; in this order where several come at once.
enum class Change { kEnd, kBegin, kMoment };

struct Point {
  std::int64_t at;
  Change change;
  std::size_t piece;
};

std::vector<Point> points_of(const CallPiece& call, const std::vector<CallPiece>& inside) {
  std::vector<Point> points;
  const std::int64_t last = call.ts + call.dur;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const std::int64_t begin = std::clamp(inside[i].ts, call.ts, last);
    const std::int64_t end = std::clamp(inside[i].ts + inside[i].dur, call.ts, last);
    if (begin == end) {
      points.push_back({begin, Change::kMoment, i});
    } else {
      points.push_back({begin, Change::kBegin, i});
      points.push_back({end, Change::kEnd, i});
    }
  }
  std::ranges::sort(points, [](const Point& a, const Point& b) {
    return std::tie(a.at, a.change, a.piece) < std::tie(b.at, b.change, b.piece);
  });
  return points;
}

}  // namespace

CallParts::CallParts(std::uint32_t kind) { nodes_.push_back({.parent = 0, .kind = kind}); }

std::size_t CallParts::inside_of(std::size_t parent, std::uint32_t kind) {
  const auto [place, is_new] = places_.try_emplace({parent, kind}, nodes_.size());
  if (is_new) nodes_.push_back({.parent = parent, .kind = kind});
  return place->second;
}

void CallParts::add(const CallPiece& call, const std::vector<CallPiece>& inside) {
  std::set<std::pair<std::int64_t, std::size_t>> open;  // rank and piece: from the outermost in
  const auto way_to = [&](auto end) {
    std::size_t node = 0;
    for (auto one = open.begin(); one != end; ++one)
      node = inside_of(node, inside[one->second].kind);
    return node;
  };
  nodes_[0].calls++;
  std::int64_t since = call.ts;
  for (const Point& point : points_of(call, inside)) {
    const CallPiece& piece = inside[point.piece];
    if (point.at > since) nodes_[way_to(open.end())].self += point.at - since;
    since = point.at;
    if (point.change == Change::kEnd) {
      open.erase({piece.rank, point.piece});
      continue;
    }
    const auto place = open.emplace(piece.rank, point.piece).first;
    nodes_[way_to(std::next(place))].calls++;
    if (point.change == Change::kMoment) open.erase(place);
  }
  nodes_[0].self += call.ts + call.dur - since;
}

std::vector<std::int64_t> CallParts::totals() const {
  std::vector<std::int64_t> totals(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    totals[i] += nodes_[i].self;
    if (i > 0) totals[nodes_[i].parent] += totals[i];
  }
  return totals;
}

}  // namespace fathom::analysis
