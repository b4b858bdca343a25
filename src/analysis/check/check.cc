// SPDX-License-Identifier: MIT
// Compares measured values with limits. A value that cannot be measured is "missing" and fails the
// check, unless the budget is optional: silence must not pass.
#include "analysis/check/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/check/meter.h"

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

class Checker {
 public:
  explicit Checker(const CheckInputs& inputs)
      : meter_(inputs.store, inputs.rules), ignores_losses_(inputs.ignores_losses) {
    if (inputs.baseline != nullptr) baseline_.emplace(*inputs.baseline, inputs.rules);
  }

  Result<Outcome> check(const Budget& budget) {
    Outcome outcome;
    outcome.budget = budget;
    FATHOM_TRY(measure(budget, outcome));
    if (!outcome.value) {
      outcome.verdict = budget.optional ? Verdict::kSkipped : Verdict::kMissing;
      if (budget.optional) FATHOM_TRY(doubt(budget, outcome, false));
      return outcome;
    }
    outcome.max = limit_of(budget.max, outcome.baseline);
    outcome.min = limit_of(budget.min, outcome.baseline);
    const bool high = outcome.max && *outcome.value > *outcome.max;
    const bool low = outcome.min && *outcome.value < *outcome.min;
    outcome.verdict = high || low ? Verdict::kBroken : Verdict::kOk;
    const bool grows = only_grows(budget.measure);
    const bool certain = high || (low ? !grows : grows && !outcome.max);
    FATHOM_TRY(doubt(budget, outcome, certain));
    return outcome;
  }

 private:
  // The verdict does not stand where calls that the budget is about were lost, or may have been
  // made unseen. It is certain where such calls of the recording, not of the baseline, could not
  // change it.
  Status doubt(const Budget& budget, Outcome& outcome, bool certain) {
    if (ignores_losses_) return {};
    std::string missing;
    if (!certain) {
      FATHOM_ASSIGN(missing, what_misses(meter_, budget, ""));
    }
    if (missing.empty() && budget.relative() && baseline_) {
      FATHOM_ASSIGN(missing, what_misses(*baseline_, budget, "in the baseline: "));
    }
    if (missing.empty()) return {};
    outcome.verdict = Verdict::kUnknown;
    outcome.detail = missing;
    return {};
  }

  static Result<std::string> what_misses(Meter& meter, const Budget& budget, const char* where) {
    FATHOM_ASSIGN(const std::string lost, meter.lost(budget));
    if (!lost.empty()) return fmt::format("lost: {}{}", where, lost);
    FATHOM_ASSIGN(const std::string unseen, meter.not_covered(budget));
    return unseen.empty() ? "" : fmt::format("not covered: {}{}", where, unseen);
  }

  // Fills value, baseline and unit; no value where one of them is not there, and the detail why.
  Status measure(const Budget& budget, Outcome& outcome) {
    FATHOM_ASSIGN(Reading now, meter_.read(budget));
    outcome.unit = now.unit;
    outcome.detail = now.detail;
    outcome.value = now.value;
    if (!now.value) return {};
    if (budget.relative()) {
      if (!baseline_) {
        return usage_error(fmt::format("budget '{}' is relative to a baseline", budget.name),
                           "name its recording with --baseline TRACE");
      }
      FATHOM_ASSIGN(const Reading then, baseline_->read(budget));
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

  Meter meter_;
  std::optional<Meter> baseline_;
  bool ignores_losses_;
};

}  // namespace

Result<std::vector<Outcome>> check_budgets(std::span<const Budget> budgets,
                                           const CheckInputs& inputs) {
  Checker checker(inputs);
  std::vector<Outcome> outcomes;
  for (const Budget& budget : budgets) {
    FATHOM_ASSIGN(Outcome outcome, checker.check(budget));
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

bool needs_events(std::span<const Budget> budgets) {
  return std::ranges::any_of(budgets, [](const Budget& budget) {
    return budget.measure == "sql" || budget.measure == "insights";
  });
}

std::size_t count_of(std::span<const Outcome> outcomes, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(outcomes, verdict, &Outcome::verdict));
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kBroken:
      return "broken";
    case Verdict::kMissing:
      return "missing";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kUnknown:
      return "unknown";
  }
  return "";
}

}  // namespace fathom::analysis
