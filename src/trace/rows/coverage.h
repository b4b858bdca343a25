// SPDX-License-Identifier: MIT
// When something went on: the union of many intervals, so that what overlaps counts once. Kept as
// disjoint spans in order, at most kMost of them: when there are more, near ones are joined, and a
// joined span remembers how much of it is covered. Exact while nothing was joined, or while no
// other span reaches into a joined one; else the estimate takes the two as independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/rows/strings.h"

namespace fathom::trace {

// A value; one thread at a time.
class Coverage {
 public:
  static constexpr std::size_t kMost = 1U << 14U;

  // A stretch of time in which something went on, all the time or some of it.
  struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t covered = 0;  // at most end - begin
    bool operator==(const Span&) const = default;
  };

  // Of one thread: `end` is not before that of the call before; an interval may hold earlier ones.
  void append(std::int64_t begin, std::int64_t end);
  // The same in order of begins.
  void extend(std::int64_t begin, std::int64_t end) { push({begin, end, end - begin}); }
  // Of anybody, at any time.
  void add(const Coverage& other);
  void add(Span span);

  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] bool empty() const { return spans_.empty(); }

 private:
  void push(const Span& span);  // behind all others, or reaching into the last
  void thin_out();

  std::vector<Span> spans_;
  std::int64_t gap_ = 0;  // spans that are no farther apart are joined
};

// When at least one thread was in a layer.
class LayerCoverage {
 public:
  struct Row {
    std::uint32_t layer;
    Coverage::Span span;
  };

  Coverage& of(std::uint32_t layer);
  void add(const LayerCoverage& other);
  // Of another pool of strings.
  void add(const LayerCoverage& other, const Strings& from, Strings& to);
  [[nodiscard]] std::vector<Row> rows() const;
  void clear() { layers_.clear(); }

 private:
  std::vector<std::pair<std::uint32_t, Coverage>> layers_;  // a handful: searched from the front
};

}  // namespace fathom::trace
