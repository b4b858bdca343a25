// SPDX-License-Identifier: MIT
// What to request of Kubernetes, and which limits to set.
#pragma once

#include <string>
#include <vector>

#include "analysis/application/profile.h"

namespace fathom::analysis {

// Requests: what is typical and a tenth. Limits: the peak and a fifth.
inline constexpr double kRequestMargin = 0.1;
inline constexpr double kLimitMargin = 0.2;

[[nodiscard]] Recommendation recommendation_for(const std::vector<Need>& needs);

// "250m", "2": never less than `cores`.
[[nodiscard]] std::string cpu_quantity(double cores);
// "192Mi": never less than `bytes`.
[[nodiscard]] std::string memory_quantity(double bytes);

}  // namespace fathom::analysis
