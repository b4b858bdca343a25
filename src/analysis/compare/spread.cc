// SPDX-License-Identifier: MIT
// The interval of a median comes from the binomial distribution of how many values lie below it;
// that of a ratio has no such formula and is drawn.
#include "analysis/compare/spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fathom::analysis {
namespace {

constexpr double kTail = 0.025;  // on each side of 95 %

// How many values of each end can be left out with 95 % confidence that the median lies between the
// rest.
std::size_t values_to_leave_out(std::size_t count) {
  double probability = std::pow(0.5, static_cast<double>(count));  // that none lies below
  double sum = 0;
  std::size_t below = 0;
  for (; below < count / 2; ++below) {
    sum += probability;
    if (sum > kTail) break;
    probability *= static_cast<double>(count - below) / static_cast<double>(below + 1);
  }
  return below == 0 ? 0 : below - 1;
}

// Of very many values, by the normal distribution, since 0.5^n is no number any more.
std::size_t many_to_leave_out(std::size_t count) {
  const auto n = static_cast<double>(count);
  return static_cast<std::size_t>(
      std::max(0.0, std::floor(n / 2 - 1.959964 * std::sqrt(n) / 2) - 1));
}

Interval interval_of(const std::vector<double>& sorted) {
  constexpr std::size_t kMany = 1000;
  const std::size_t out =
      sorted.size() > kMany ? many_to_leave_out(sorted.size()) : values_to_leave_out(sorted.size());
  return {sorted[out], sorted[sorted.size() - 1 - out]};
}

std::vector<std::size_t> outliers_of(std::span<const double> values,
                                     const std::vector<double>& sorted) {
  constexpr double kFences = 1.5;
  constexpr double kLeast = 0.01;
  const double first = quantile(sorted, 0.25);
  const double third = quantile(sorted, 0.75);
  const double reach = kFences * (third - first);
  const double middle = quantile(sorted, 0.5);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool beyond = values[i] < first - reach || values[i] > third + reach;
    if (beyond && std::fabs(values[i] - middle) > kLeast * std::fabs(middle)) places.push_back(i);
  }
  return places;
}

// The median of as many values, drawn from them; `drawn` is room for them.
double drawn_median(std::span<const double> values, Dice& dice, std::vector<double>& drawn) {
  drawn.resize(values.size());
  for (double& one : drawn) one = values[dice.below(values.size())];
  const auto middle = drawn.begin() + static_cast<std::ptrdiff_t>(drawn.size() / 2);
  std::ranges::nth_element(drawn, middle);
  if (drawn.size() % 2 == 1) return *middle;
  return (*std::max_element(drawn.begin(), middle) + *middle) / 2;
}

}  // namespace

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto at = static_cast<std::size_t>(place);
  if (at + 1 >= sorted.size()) return sorted.back();
  const double part = place - static_cast<double>(at);
  return part == 0 ? sorted[at] : sorted[at] + part * (sorted[at + 1] - sorted[at]);
}

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

Spread spread_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(values.size());
  Spread spread;
  spread.count = values.size();
  spread.median = median(sorted);
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.stddev = values.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  spread.min = sorted.front();
  spread.max = sorted.back();
  spread.interval = interval_of(sorted);
  spread.outliers = outliers_of(values, sorted);
  return spread;
}

std::optional<Ratio> ratio_of_medians(std::span<const double> base, std::span<const double> other,
                                      Dice& dice, std::size_t resamples) {
  const double below = median(base);
  if (!(below > 0)) return std::nullopt;
  Ratio ratio{.value = median(other) / below, .interval = {}};
  std::vector<double> room;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < resamples; ++i) {
    const double under = drawn_median(base, dice, room);
    const double over = drawn_median(other, dice, room);
    if (under > 0) ratios.push_back(over / under);
  }
  if (ratios.empty()) return std::nullopt;
  std::ranges::sort(ratios);
  ratio.interval = {std::min(ratio.value, quantile(ratios, kTail)),
                    std::max(ratio.value, quantile(ratios, 1 - kTail))};
  return ratio;
}

}  // namespace fathom::analysis
