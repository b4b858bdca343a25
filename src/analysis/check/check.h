// SPDX-License-Identifier: MIT
// A recording held against its budgets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/check/budget.h"
#include "analysis/check/meter.h"
#include "analysis/store.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

enum class BudgetVerdict : std::uint8_t {
  kOk,
  kBroken,
  kMissing,  // what it should measure is not in the recording, or in the baseline
  kSkipped,  // the same, and the budget says that this may be
  kUnknown,  // it holds for what was recorded, and what was lost may break it
};

// What became of one budget: the value and the limits as numbers, so that tables and JUnit say the
// same.
struct Outcome {
  Budget budget;
  BudgetVerdict verdict = BudgetVerdict::kOk;
  Measure unit = Measure::kNone;
  std::optional<double> value;
  std::optional<double> baseline;
  std::optional<double> max;  // in the value's unit, baseline worked in
  std::optional<double> min;
  std::string detail;
};

// What one run says to each budget, in their order.
struct RunReadings {
  std::vector<Reading> values;
  std::vector<std::string> lost;         // see Meter::lost
  std::vector<std::string> not_covered;  // see Meter::not_covered
};
enum class Which : std::uint8_t { kAll, kRelative };  // budgets; others have no value
// Rules are those that budgets of insights ask.
Result<RunReadings> read_budgets(Store& store, std::span<const Rule> rules,
                                 std::span<const Budget> budgets, Which which = Which::kAll);

// Of repetitions the mean is checked; of losses and insights the most that any of them has.
struct CheckInputs {
  std::span<const RunReadings> runs;
  std::span<const RunReadings> baseline = {};
  bool ignores_losses = false;  // what was recorded counts as all there was
};

// One outcome for each budget, in their order. A relative limit without a baseline is a usage
// error.
Result<std::vector<Outcome>> check_budgets(std::span<const Budget> budgets,
                                           const CheckInputs& inputs);

// Whether questions are asked that the sums of a recording do not answer.
[[nodiscard]] bool needs_events(std::span<const Budget> budgets);

[[nodiscard]] std::size_t count_of(std::span<const Outcome> outcomes, BudgetVerdict verdict);
[[nodiscard]] std::string_view verdict_name(BudgetVerdict verdict);  // as "ok"

// For people: numbers with units, and below them a remark, as what was lost. For programs: a column
// for each number, times in ns.
[[nodiscard]] Table outcome_table(std::span<const Outcome> outcomes,
                                  const std::string& remark = "");
[[nodiscard]] Table outcome_rows(std::span<const Outcome> outcomes);

// JUnit's XML: a test case a budget; broken ones fail, missing and unknown ones are errors. What
// was lost is a property of the suite.
[[nodiscard]] std::string outcome_junit(std::span<const Outcome> outcomes,
                                        const std::string& lost = "");

}  // namespace fathom::analysis
