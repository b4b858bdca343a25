// SPDX-License-Identifier: MIT
// Which runs of a thread were seen. They are numbered from 0 on and come nearly in order, some of
// them more than once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace fathom::trace {

// Ranges instead of numbers: a thread of a long run has millions of runs, nearly all in one range.
class RunSet {
 public:
  void insert(std::uint64_t run) {
    auto next =
        std::upper_bound(ranges_.begin(), ranges_.end(), run,
                         [](std::uint64_t value, const Range& r) { return value < r.first; });
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (run < before->second) return;
      if (run == before->second && run != UINT64_MAX) {
        ++before->second;
        if (next != ranges_.end() && next->first == before->second) {
          before->second = next->second;
          ranges_.erase(next);
        }
        return;
      }
    }
    if (run == UINT64_MAX || ranges_.size() == kMostRanges) return;
    if (next != ranges_.end() && next->first == run + 1) {
      next->first = run;
    } else {
      ranges_.insert(next, {run, run + 1});
    }
  }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const Range& range : ranges_) sum += range.second - range.first;
    return sum;
  }
  // Of those before the last one that was seen.
  [[nodiscard]] std::uint64_t missing() const {
    return ranges_.empty() ? 0 : ranges_.back().second - count();
  }

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // from, up to
  static constexpr std::size_t kMostRanges = 4096;        // more is damage
  std::vector<Range> ranges_;                             // in order, apart
};

}  // namespace fathom::trace
