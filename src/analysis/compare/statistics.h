// SPDX-License-Identifier: MIT
// Whether two sets of measurements differ: Welch's t-test, which does not take the sets for equally
// scattered.
#pragma once

#include <optional>
#include <span>

namespace fathom::analysis {

// Of the 95 % in every confidence interval; a smaller p is significant.
inline constexpr double kSignificant = 0.05;

// The regularised incomplete beta function I_x(a, b), for a, b > 0 and x in 0..1.
[[nodiscard]] double incomplete_beta(double a, double b, double x);

// The probability that |T| is at least |t| under Student's distribution.
[[nodiscard]] double student_two_sided(double t, double degrees);

// The t whose two-sided probability is p.
[[nodiscard]] double student_critical(double p, double degrees);

struct Estimate {
  double before = 0;  // means
  double after = 0;
  double change = 0;
  // Nothing below where a side has fewer than two values: scatter is not known then.
  std::optional<double> low;  // of the change, with 95 % confidence
  std::optional<double> high;
  std::optional<double> p;

  [[nodiscard]] bool significant() const { return p && *p < kSignificant; }
  // NULL in tables: nothing was there before.
  [[nodiscard]] std::optional<double> percent() const;
};

// Neither side is empty.
[[nodiscard]] Estimate welch(std::span<const double> before, std::span<const double> after);

}  // namespace fathom::analysis
