// SPDX-License-Identifier: MIT
// The distribution of the number of pairs in order, by looking at the largest value: it belongs to
// one of the sets with a probability that is its share of the values.
#include "analysis/compare/ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostExact = 10'000;  // pairs

// Of sets of i and j values, for all j up to `second`; row by row in i.
using Row = std::vector<std::vector<double>>;

Row next_row(const Row& last, std::size_t i) {
  Row row(last.size());
  row[0] = {1};
  for (std::size_t j = 1; j < last.size(); ++j) {
    const auto whole = static_cast<double>(i + j);
    row[j].assign(i * j + 1, 0);
    for (std::size_t u = 0; u < last[j].size(); ++u)
      row[j][u] += static_cast<double>(i) / whole * last[j][u];
    for (std::size_t u = 0; u < row[j - 1].size(); ++u)
      row[j][u + i] += static_cast<double>(j) / whole * row[j - 1][u];
  }
  return row;
}

std::vector<double> distribution(std::size_t first, std::size_t second) {
  Row row(second + 1, std::vector<double>{1});
  for (std::size_t i = 1; i <= first; ++i) row = next_row(row, i);
  std::vector<double> up_to = std::move(row[second]);
  std::partial_sum(up_to.begin(), up_to.end(), up_to.begin());
  return up_to;
}

// Pairs in which the first is smaller; equal ones count half.
// Mann and Whitney's U.
double pairs_in_order(std::span<const double> first, std::span<const double> second) {
  std::vector<double> sorted(second.begin(), second.end());
  std::ranges::sort(sorted);
  double pairs = 0;
  for (const double value : first) {
    const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), value);
    pairs += static_cast<double>(sorted.end() - to) + static_cast<double>(to - from) / 2;
  }
  return pairs;
}

}  // namespace

RankTest::RankTest(std::size_t first, std::size_t second) : first_(first), second_(second) {
  if (first * second <= kMostExact) up_to_ = distribution(first, second);
}

// Exact for small sets; beyond, the normal distribution with a correction for continuity.
double RankTest::p_of(double pairs) const {
  const auto n = static_cast<double>(first_);
  const auto m = static_cast<double>(second_);
  const double extreme = std::min(pairs, n * m - pairs);
  if (!up_to_.empty()) return std::min(1.0, 2 * up_to_[static_cast<std::size_t>(extreme)]);
  const double deviation = std::sqrt(n * m * (n + m + 1) / 12);
  const double distance = std::max(0.0, n * m / 2 - extreme - 0.5) / deviation;
  return std::min(1.0, std::erfc(distance / std::sqrt(2.0)));
}

double RankTest::p(std::span<const double> first, std::span<const double> second) const {
  return p_of(pairs_in_order(first, second));
}

double RankTest::smallest_p() const { return p_of(0); }

// Holm's correction: the smallest p is held against all of them, the next against one fewer, and
// none is smaller than the one before it.
std::vector<double> holm(std::span<const double> ps) {
  std::vector<std::size_t> order(ps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return ps[at]; });
  std::vector<double> corrected(ps.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, left * ps[order[i]]));
    corrected[order[i]] = largest;
  }
  return corrected;
}

}  // namespace fathom::analysis
