// SPDX-License-Identifier: MIT
// Student's distribution by the incomplete beta function, evaluated as a continued fraction.
// Written here because no statistics library is linked.
#include "analysis/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fathom::analysis {
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;  // of the mean: of the values, by their number
  double count = 0;
};

Moments moments_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean,
          .variance = values.size() < 2 ? 0 : squares / (count - 1) / count,
          .count = count};
}

// Lentz's way to evaluate a continued fraction needs denominators that are not zero.
double apart_from_zero(double value) {
  constexpr double kTiny = 1e-300;
  return std::fabs(value) < kTiny ? kTiny : value;
}

// The continued fraction of I_x(a, b); converges quickly for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostSteps = 500;
  constexpr double kEnough = 1e-15;
  double c = 1;
  double d = 1 / apart_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int step = 1; step <= kMostSteps; ++step) {
    const double m = step;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / apart_from_zero(1 + even * d);
    c = apart_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / apart_from_zero(1 + odd * d);
    c = apart_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::fabs(d * c - 1) < kEnough) break;
  }
  return fraction;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  const double front = std::exp(log_front);
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double t, double degrees) {
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_critical(double p, double degrees) {
  double low = 0;
  double high = 1;
  while (student_two_sided(high, degrees) > p && high < 1e12) high *= 2;
  constexpr int kHalvings = 100;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, degrees) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::optional<double> Estimate::percent() const {
  if (before == 0) return std::nullopt;
  return 100 * change / std::fabs(before);
}

Estimate welch(std::span<const double> before, std::span<const double> after) {
  const Moments a = moments_of(before);
  const Moments b = moments_of(after);
  Estimate estimate;
  estimate.before = a.mean;
  estimate.after = b.mean;
  estimate.change = b.mean - a.mean;
  if (before.size() < 2 || after.size() < 2) return estimate;
  const double variance = a.variance + b.variance;
  // Rounding alone makes a little variance of equal values.
  const double noise = 1e-12 * std::max(std::fabs(a.mean), std::fabs(b.mean));
  if (variance <= noise * noise) {
    estimate.p = std::fabs(estimate.change) <= noise ? 1.0 : 0.0;
    estimate.low = estimate.high = estimate.change;
    return estimate;
  }
  const double degrees =
      variance * variance /
      (a.variance * a.variance / (a.count - 1) + b.variance * b.variance / (b.count - 1));
  const double error = std::sqrt(variance);
  const double margin = student_critical(kSignificant, degrees) * error;
  estimate.p = student_two_sided(estimate.change / error, degrees);
  estimate.low = estimate.change - margin;
  estimate.high = estimate.change + margin;
  return estimate;
}

}  // namespace fathom::analysis
