// SPDX-License-Identifier: MIT
// Takes the value of a budget from a recording.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/check/budget.h"
#include "analysis/compare/counter_sums.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// No value is no 0: what was not recorded cannot keep a limit.
struct Reading {
  std::optional<double> value;
  Measure unit = Measure::kNone;
  std::string detail;  // why there is no value, or what it is made of
};

// One thread, which has the store for itself.
class Meter {
 public:
  // Both must outlive it. Rules are those that budgets of insights ask.
  Meter(Store& store, std::span<const Rule> rules) : store_(store), rules_(rules) {}

  // What the recording does not hold is a reading without a value. An error is one of the
  // recording.
  Result<Reading> read(const Budget& budget);
  // What was lost of the calls that a budget is about, as losses_text has it; "" where nothing was.
  Result<std::string> lost(const Budget& budget);
  // Programs that may have made such calls without being seen, with reasons; "" where none did.
  Result<std::string> not_covered(const Budget& budget);

 private:
  Result<Reading> run(const Budget& budget);
  Result<Reading> calls(const Budget& budget);
  Result<Reading> counter(const Budget& budget);
  Result<Reading> losses(const Budget& budget);
  Result<Reading> insights(const Budget& budget);
  Result<Reading> query(const Budget& budget);
  Result<const CounterSums*> counters();
  Result<std::set<std::string>> layers_meant(const Budget& budget);
  Result<std::set<std::string>> layers_of_calls(const Budget& budget);

  Store& store_;
  std::span<const Rule> rules_;
  std::optional<CounterSums> counters_;
};

}  // namespace fathom::analysis
