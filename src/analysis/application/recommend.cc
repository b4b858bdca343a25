// SPDX-License-Identifier: MIT
// Turns the measured needs of a program into requests and limits: margins come on top, least
// amounts hold where nearly nothing was used, and what was not measured gets a reason instead of a
// number.
#include "analysis/application/recommend.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analysis/application/needs.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr double kMiB = 1 << 20;
// Less is of no use: a container's first process alone takes this much.
constexpr double kLeastCores = 0.01;
constexpr double kLeastBytes = 4 * kMiB;

}  // namespace

std::string cpu_quantity(double cores) {
  constexpr std::int64_t kWhole = 1000;
  const auto thousandths = static_cast<std::int64_t>(std::ceil(cores * kWhole - 1e-6));
  if (thousandths % kWhole == 0) return std::to_string(thousandths / kWhole);
  return std::to_string(thousandths) + "m";
}

std::string memory_quantity(double bytes) {
  return std::to_string(static_cast<std::int64_t>(std::ceil(bytes / kMiB))) + "Mi";
}

Recommendation recommendation_for(const std::vector<Need>& needs) {
  Recommendation advice;
  advice.margin = kLimitMargin;
  const Amount& cpu = amount_of(needs, "cpu_cores");
  const Amount& memory = amount_of(needs, "memory_bytes");
  std::vector<std::string> reasons;
  if (cpu.typical && cpu.peak) {
    const double limit = std::max(*cpu.peak * (1 + kLimitMargin), kLeastCores);
    const double request = std::max(*cpu.typical * (1 + kRequestMargin), kLeastCores);
    advice.requests.cpu = cpu_quantity(std::min(request, limit));
    advice.limits.cpu = cpu_quantity(limit);
  } else {
    reasons.push_back("cpu: " + cpu.reason);
  }
  if (memory.typical && memory.peak) {
    const double limit = std::max(*memory.peak * (1 + kLimitMargin), kLeastBytes);
    const double request = std::max(*memory.typical * (1 + kRequestMargin), kLeastBytes);
    advice.requests.memory = memory_quantity(std::min(request, limit));
    advice.limits.memory = memory_quantity(limit);
    if (!memory.reason.empty()) reasons.push_back("memory: " + memory.reason);
  } else {
    reasons.push_back("memory: " + memory.reason);
  }
  advice.reason = join(reasons, "; ");
  return advice;
}

}  // namespace fathom::analysis
