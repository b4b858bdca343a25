// SPDX-License-Identifier: MIT
// Rows of several threads come in no order of time: the latest moment decides, not the last row.
#include "analysis/live/latest_counters.h"

namespace fathom::analysis {

void LatestCounters::add(std::string_view name, const Value& last, std::uint64_t values) {
  const auto known = values_.find(name);
  if (known != values_.end()) {
    if (last.ts >= known->second.ts) known->second = last;
  } else if (name.size() > kLongestName || values_.size() >= kMostNames) {
    left_out_ += values;
  } else if (!name.empty()) {
    values_.emplace(name, last);
  }
}

}  // namespace fathom::analysis
