// SPDX-License-Identifier: MIT
// What counters came to in one recording: one number for a counter that only grows, mean and
// largest value for one that goes up and down.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/store.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

// Which number of a counter: those that go up and down have two, so a name alone does not tell.
struct CounterKey {
  std::string layer;
  std::string name;
  std::string statistic;  // total, mean or max
  bool operator<(const CounterKey& other) const {
    return std::tie(layer, name, statistic) < std::tie(other.layer, other.name, other.statistic);
  }
};

struct CounterSum {
  Measure measure = Measure::kNone;
  std::string unit;  // as recorded; seconds are given in ns
  double value = 0;
};

using CounterSums = std::map<CounterKey, CounterSum>;

// Processes are summed: totals, and at each instant what goes up and down. Several hosts are added
// up. An Error is one of the store.
Result<CounterSums> counter_sums(Store& store);

[[nodiscard]] std::optional<double> find_counter(const CounterSums& sums, std::string_view name,
                                                 std::string_view statistic);

}  // namespace fathom::analysis
