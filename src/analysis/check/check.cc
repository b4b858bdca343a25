// SPDX-License-Identifier: MIT
// Compares measured values with limits. A value that cannot be measured is "missing" and fails the
// check, unless the budget is optional: silence must not pass.
#include "analysis/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/plural.h"

namespace fathom::analysis {
namespace {

// Why the limits cannot be held against a value of this unit; "" where they can.
std::string misfit(const Budget& budget, Measure unit) {
  const bool fits = budget.unit == unit || budget.unit == Measure::kNone;
  for (const std::optional<Limit>* limit : {&budget.max, &budget.min}) {
    if (!*limit || (*limit)->in_percent || (*limit)->number == 0) continue;
    if (!fits) return "'" + (*limit)->text + "' has another unit than this counter";
    const bool bare = (*limit)->unit == Measure::kNone;
    if (bare && unit == Measure::kNanoseconds) return "this counter is a time: give limits a unit";
  }
  return "";
}

std::optional<double> limit_of(const std::optional<Limit>& limit,
                               const std::optional<double>& baseline) {
  if (!limit) return std::nullopt;
  if (!limit->relative) return limit->number;
  if (!baseline) return std::nullopt;
  return limit->in_percent ? *baseline * (1 + limit->number / 100) : *baseline + limit->number;
}

// A value that only grows when more is recorded.
bool only_grows(const std::string& measure) {
  return measure != "mean" && measure != "p50" && measure != "p99";
}

// A count of what should not be there: a run without it excuses no other.
bool takes_the_most(const std::string& measure) {
  return measure == "losses" || measure == "insights";
}

using Runs = std::span<const RunReadings>;

// "in 1 of 3 repetitions: no recorded call matches"
std::string in_some(std::size_t some, std::size_t all, const std::string& what) {
  return all == 1 ? what : fmt::format("in {} of {}: {}", some, counted(all, "repetition"), what);
}

Reading together(Runs runs, std::size_t index, const Budget& budget) {
  Reading whole = runs[0].values[index];
  if (runs.size() == 1) return whole;
  double sum = 0;
  std::size_t missing = 0;
  std::string why;
  for (const RunReadings& run : runs) {
    const Reading& one = run.values[index];
    if (!one.value) why = one.detail;
    missing += one.value ? 0 : 1;
    sum += one.value.value_or(0);
    if (one.value && takes_the_most(budget.measure) && *one.value > whole.value.value_or(0))
      whole = one;
  }
  if (missing > 0) {
    return {
        .value = std::nullopt, .unit = whole.unit, .detail = in_some(missing, runs.size(), why)};
  }
  if (!takes_the_most(budget.measure)) whole.value = sum / static_cast<double>(runs.size());
  return whole;
}

std::string missing_in(Runs runs, std::size_t index, std::vector<std::string> RunReadings::*calls) {
  std::size_t some = 0;
  std::string what;
  for (const RunReadings& run : runs) {
    const std::string& missing = (run.*calls)[index];
    if (missing.empty()) continue;
    if (++some == 1) what = missing;
  }
  return some == 0 ? "" : in_some(some, runs.size(), what);
}

class Checker {
 public:
  explicit Checker(const CheckInputs& inputs) : inputs_(inputs) {}

  Result<Outcome> check(std::size_t index, const Budget& budget) {
    Outcome outcome;
    outcome.budget = budget;
    FATHOM_TRY(measure(index, outcome));
    if (!outcome.value) {
      outcome.verdict = budget.optional ? BudgetVerdict::kSkipped : BudgetVerdict::kMissing;
      if (budget.optional) doubt(index, outcome, false);
      return outcome;
    }
    outcome.max = limit_of(budget.max, outcome.baseline);
    outcome.min = limit_of(budget.min, outcome.baseline);
    const bool high = outcome.max && *outcome.value > *outcome.max;
    const bool low = outcome.min && *outcome.value < *outcome.min;
    outcome.verdict = high || low ? BudgetVerdict::kBroken : BudgetVerdict::kOk;
    const bool grows = only_grows(budget.measure);
    const bool certain = high || (low ? !grows : grows && !outcome.max);
    doubt(index, outcome, certain);
    return outcome;
  }

 private:
  // The verdict does not stand where calls that the budget is about were lost, or may have been
  // made unseen. It is certain where such calls of the recording, not of the baseline, could not
  // change it.
  void doubt(std::size_t index, Outcome& outcome, bool certain) {
    if (inputs_.ignores_losses) return;
    for (const auto& [word, calls] : {std::pair{"lost", &RunReadings::lost},
                                      std::pair{"not covered", &RunReadings::not_covered}}) {
      std::string missing = certain ? "" : missing_in(inputs_.runs, index, calls);
      if (missing.empty() && outcome.budget.relative()) {
        missing = missing_in(inputs_.baseline, index, calls);
        if (!missing.empty()) missing.insert(0, "in the baseline: ");
      }
      if (missing.empty()) continue;
      outcome.verdict = BudgetVerdict::kUnknown;
      outcome.detail = fmt::format("{}: {}", word, missing);
      return;
    }
  }

  // Fills value, baseline and unit; no value where one of them is not there, and the detail why.
  Status measure(std::size_t index, Outcome& outcome) {
    const Budget& budget = outcome.budget;
    const Reading now = together(inputs_.runs, index, budget);
    outcome.unit = now.unit;
    outcome.detail = now.detail;
    outcome.value = now.value;
    if (!now.value) return {};
    if (budget.relative()) {
      if (inputs_.baseline.empty()) {
        return usage_error(fmt::format("budget '{}' is relative to a baseline", budget.name),
                           "name its recording with --baseline TRACE");
      }
      const Reading then = together(inputs_.baseline, index, budget);
      outcome.baseline = then.value;
      if (!then.value) outcome.detail = "in the baseline: " + then.detail;
      if (!then.value) outcome.value.reset();
    }
    const std::string problem = misfit(budget, now.unit);
    if (problem.empty()) return {};
    outcome.detail = problem;
    outcome.value.reset();
    return {};
  }

  CheckInputs inputs_;
};

}  // namespace

Result<RunReadings> read_budgets(Store& store, std::span<const Rule> rules,
                                 std::span<const Budget> budgets, Which which) {
  Meter meter(store, rules);
  RunReadings run;
  for (const Budget& budget : budgets) {
    const bool wanted = which == Which::kAll || budget.relative();
    Reading value;
    std::string lost;
    std::string not_covered;
    if (wanted) {
      FATHOM_ASSIGN(value, meter.read(budget));
      FATHOM_ASSIGN(lost, meter.lost(budget));
      FATHOM_ASSIGN(not_covered, meter.not_covered(budget));
    }
    run.values.push_back(std::move(value));
    run.lost.push_back(std::move(lost));
    run.not_covered.push_back(std::move(not_covered));
  }
  return run;
}

Result<std::vector<Outcome>> check_budgets(std::span<const Budget> budgets,
                                           const CheckInputs& inputs) {
  Checker checker(inputs);
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    FATHOM_ASSIGN(Outcome outcome, checker.check(i, budgets[i]));
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

bool needs_events(std::span<const Budget> budgets) {
  return std::ranges::any_of(budgets, [](const Budget& budget) {
    return budget.measure == "sql" || budget.measure == "insights";
  });
}

std::size_t count_of(std::span<const Outcome> outcomes, BudgetVerdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(outcomes, verdict, &Outcome::verdict));
}

std::string_view verdict_name(BudgetVerdict verdict) {
  switch (verdict) {
    case BudgetVerdict::kOk:
      return "ok";
    case BudgetVerdict::kBroken:
      return "broken";
    case BudgetVerdict::kMissing:
      return "missing";
    case BudgetVerdict::kSkipped:
      return "skipped";
    case BudgetVerdict::kUnknown:
      return "unknown";
  }
  return "";
}

}  // namespace fathom::analysis
