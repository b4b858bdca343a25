// SPDX-License-Identifier: MIT
// Quantiles are interpolated inside a bucket on a logarithmic scale and clamped to the known
// minimum and maximum.
#include "analysis/histogram.h"

#include <algorithm>
#include <cmath>

namespace fathom::analysis {

void Histogram::add(std::size_t bucket, std::int64_t count) {
  if (bucket >= kBuckets || count <= 0) return;
  counts_[bucket] += count;
  total_ += count;
}

std::optional<std::int64_t> Histogram::quantile(double share, std::int64_t least,
                                                std::int64_t most) const {
  if (total_ <= 0) return std::nullopt;
  const double wanted = share * static_cast<double>(total_);
  double before = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const auto here = static_cast<double>(counts_[bucket]);
    if (here == 0 || before + here < wanted) {
      before += here;
      continue;
    }
    const double inside = std::clamp((wanted - before) / here, 0.0, 1.0);
    const double value = std::exp2(static_cast<double>(bucket) + inside);
    const double bounded =
        std::clamp(value, static_cast<double>(least), static_cast<double>(std::max(least, most)));
    return static_cast<std::int64_t>(bounded);
  }
  return most;
}

std::int64_t Histogram::lower_bound(std::size_t bucket) {
  return bucket == 0 ? 0 : std::int64_t{1} << std::min<std::size_t>(bucket, 62);
}

Histogram Histogram::from(const Value& buckets, const Value& counts) {
  Histogram histogram;
  const auto* where = std::get_if<List>(&buckets.data);
  const auto* many = std::get_if<List>(&counts.data);
  if (where == nullptr || many == nullptr) return histogram;
  for (std::size_t i = 0; i < std::min(where->size(), many->size()); ++i) {
    const auto* bucket = std::get_if<std::int64_t>(&(*where)[i].data);
    const auto* count = std::get_if<std::int64_t>(&(*many)[i].data);
    if (bucket != nullptr && count != nullptr && *bucket >= 0) {
      histogram.add(static_cast<std::size_t>(*bucket), *count);
    }
  }
  return histogram;
}

}  // namespace fathom::analysis
