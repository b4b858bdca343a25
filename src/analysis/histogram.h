// SPDX-License-Identifier: MIT
// Histograms of powers of two, as the summary has them: bucket i counts 2^i <= value < 2^(i+1), and
// bucket 0 also 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/table.h"

namespace fathom::analysis {

// A plain value. Buckets come from recordings: one that cannot be is ignored.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 64;

  void add(std::size_t bucket, std::int64_t count);
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::int64_t count(std::size_t bucket) const { return counts_[bucket]; }

  // The value below which `share` (0 to 1) of all lie, as near as a bucket can tell: evenly spread
  // on a scale of powers inside its bucket, and between `least` and `most`. None where nothing was
  // counted.
  [[nodiscard]] std::optional<std::int64_t> quantile(double share, std::int64_t least,
                                                     std::int64_t most) const;

  // The smallest value of a bucket.
  static std::int64_t lower_bound(std::size_t bucket);

  // From two lists of the same length: buckets, from 0, and counts.
  static Histogram from(const Value& buckets, const Value& counts);

 private:
  std::array<std::int64_t, kBuckets> counts_{};
  std::int64_t total_ = 0;
};

}  // namespace fathom::analysis
