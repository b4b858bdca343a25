// SPDX-License-Identifier: MIT
// Whether the values of one set tend to be larger than those of another: Mann and Whitney's test,
// which asks nothing of how they are distributed. And what is left of that where many things are
// compared at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fathom::analysis {

// The test for sets of these sizes, which are not 0. Exact up to 100 values each, by counting all
// orders that are possible; equal values make it cautious. Beyond that by the normal distribution.
class RankTest {
 public:
  RankTest(std::size_t first, std::size_t second);

  // Two-sided: how likely sets of one distribution differ at least as much.
  [[nodiscard]] double p(std::span<const double> first, std::span<const double> second) const;
  // The least that any two sets of these sizes can give.
  [[nodiscard]] double smallest_p() const;

 private:
  [[nodiscard]] double p_of(double pairs) const;

  std::size_t first_;
  std::size_t second_;
  std::vector<double> up_to_;  // probability of at most so many pairs in order; empty: too many
};

// Holm's correction: all of them together are wrong as rarely as one would be alone. In the order
// of `ps`.
[[nodiscard]] std::vector<double> holm(std::span<const double> ps);

}  // namespace fathom::analysis
