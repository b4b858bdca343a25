// SPDX-License-Identifier: MIT
// Outcomes of budgets as tables for people and as JUnit's XML, which CI systems show: a broken
// limit is a failure there, one that could not be checked an error, so that the two look different.
#include <fmt/format.h>

#include "analysis/check/check.h"
#include "analysis/compare/sums.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

std::string number_text(double number, Measure unit) {
  switch (unit) {
    case Measure::kNanoseconds:
      return human_ns(number);
    case Measure::kBytes:
      return human_bytes(number);
    case Measure::kPercent:
      return fmt::format("{:.1f} %", number);
    case Measure::kCount:
    case Measure::kNone:
      return fmt::format("{:.10g}", number);
  }
  return "";
}

std::string_view unit_name(Measure unit) {
  switch (unit) {
    case Measure::kNanoseconds:
      return "ns";
    case Measure::kBytes:
      return "bytes";
    case Measure::kPercent:
      return "percent";
    case Measure::kCount:
      return "count";
    case Measure::kNone:
      return "";
  }
  return "";
}

// As written, and what a relative one comes to: "max +5% (1.05 s)".
std::string limit_text(const char* word, const std::optional<Limit>& limit,
                       const std::optional<double>& number, Measure unit) {
  if (!limit) return "";
  std::string text = fmt::format("{} {}", word, limit->text);
  if (limit->relative && number) text += " (" + number_text(*number, unit) + ")";
  return text;
}

std::string limits_text(const Outcome& outcome) {
  std::string text = limit_text("max", outcome.budget.max, outcome.max, outcome.unit);
  const std::string least = limit_text("min", outcome.budget.min, outcome.min, outcome.unit);
  if (!text.empty() && !least.empty()) text += ", ";
  return text + least;
}

std::string value_text(const Outcome& outcome) {
  return outcome.value ? number_text(*outcome.value, outcome.unit) : "-";
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : escape_control(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string message_of(const Outcome& outcome) {
  std::string text = fmt::format("{}, {}", value_text(outcome), limits_text(outcome));
  if (!outcome.detail.empty()) text += ": " + outcome.detail;
  return text;
}

// What stands inside a test case; "" for one that passed.
std::string case_body(const Outcome& outcome) {
  const std::string message = xml_text(message_of(outcome));
  switch (outcome.verdict) {
    case BudgetVerdict::kOk:
      return "";
    case BudgetVerdict::kBroken:
      return fmt::format("<failure message=\"{}\"/>", message);
    case BudgetVerdict::kMissing:
    case BudgetVerdict::kUnknown:
      return fmt::format("<error message=\"{}\"/>", message);
    case BudgetVerdict::kSkipped:
      return fmt::format("<skipped message=\"{}\"/>", message);
  }
  return "";
}

}  // namespace

Table outcome_table(std::span<const Outcome> outcomes, const std::string& remark) {
  Table table{.title = "Budgets",
              .columns = {{"budget"}, {"value"}, {"limit"}, {"status"}, {"detail"}},
              .rows = {},
              .note = {}};
  for (const Outcome& outcome : outcomes) {
    table.rows.push_back({outcome.budget.name, value_text(outcome), limits_text(outcome),
                          std::string(verdict_name(outcome.verdict)), outcome.detail});
  }
  std::vector<std::string> counts;
  for (const BudgetVerdict verdict :
       {BudgetVerdict::kOk, BudgetVerdict::kBroken, BudgetVerdict::kMissing,
        BudgetVerdict::kUnknown, BudgetVerdict::kSkipped}) {
    const std::size_t count = count_of(outcomes, verdict);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, verdict_name(verdict)));
  }
  table.note = join(counts, ", ");
  if (!remark.empty()) table.note += "; " + remark;
  return table;
}

Table outcome_rows(std::span<const Outcome> outcomes) {
  Table table{.title = "Budgets",
              .columns = {{"budget"},
                          {"line"},
                          {"measure"},
                          {"status"},
                          {"value"},
                          {"unit"},
                          {"max"},
                          {"min"},
                          {"baseline"},
                          {"detail"}},
              .rows = {},
              .note = {}};
  for (const Outcome& outcome : outcomes) {
    table.rows.push_back({outcome.budget.name, static_cast<std::int64_t>(outcome.budget.line),
                          outcome.budget.measure, std::string(verdict_name(outcome.verdict)),
                          value_of(outcome.value), std::string(unit_name(outcome.unit)),
                          value_of(outcome.max), value_of(outcome.min), value_of(outcome.baseline),
                          outcome.detail});
  }
  return table;
}

std::string outcome_junit(std::span<const Outcome> outcomes, const std::string& lost) {
  const std::size_t errors =
      count_of(outcomes, BudgetVerdict::kMissing) + count_of(outcomes, BudgetVerdict::kUnknown);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n<testsuite name=\"fathom check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n",
      outcomes.size(), count_of(outcomes, BudgetVerdict::kBroken), errors,
      count_of(outcomes, BudgetVerdict::kSkipped));
  if (!lost.empty()) {
    text += fmt::format("<properties><property name=\"lost\" value=\"{}\"/></properties>\n",
                        xml_text(lost));
  }
  for (const Outcome& outcome : outcomes) {
    const std::string body = case_body(outcome);
    text += fmt::format("<testcase classname=\"fathom.budget\" name=\"{}\"",
                        xml_text(outcome.budget.name));
    text += body.empty() ? "/>\n" : ">" + body + "</testcase>\n";
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace fathom::analysis
