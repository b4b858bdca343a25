// SPDX-License-Identifier: MIT
// Reads sums, not events, wherever it can, so that a check of a large recording takes milliseconds.
// Percentiles come from histograms.
#include "analysis/check/meter.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/check/measures.h"
#include "analysis/compare/sums.h"
#include "analysis/facts.h"
#include "analysis/histogram.h"
#include "analysis/insights/insights.h"
#include "analysis/losses.h"
#include "analysis/view_tools.h"
#include "base/plural.h"
#include "base/text.h"
#include "trace/rows/layers.h"
#include "trace/spool/losses.h"

namespace fathom::analysis {
namespace {

Reading absent(std::string why) {
  return {.value = std::nullopt, .unit = Measure::kNone, .detail = std::move(why)};
}

// Why a layer has no values; "" where it was recorded.
std::string layer_missing(const Store& store, const std::string& name) {
  const std::vector<trace::LayerState> layers = layers_of(store.parts());
  const auto found = std::ranges::find(layers, name, &trace::LayerState::layer);
  if (found == layers.end()) return "there is no layer '" + name + "'";
  if (found->state == "on" || found->state == "partial") return "";
  return fmt::format("layer {} was not recorded: {}", name,
                     found->reason.empty() ? found->state : found->reason);
}

// The WHERE of a budget and its parameters. Without a layer a call that several layers saw is one.
// A name is compared as it is and as a glob; a glob of files that does not begin with a slash may
// begin at any directory.
struct Selection {
  std::string where = "true";
  sql::Parameters parameters;

  explicit Selection(const Budget& budget) {
    add(budget.function, "(name = ${0} OR name GLOB ${0})");
    add(budget.layer, "layer = ${0}");
    add(budget.category, "category = ${0}");
    const bool anywhere = !budget.file.starts_with('/');
    add(budget.file, anywhere ? "(file = ${0} OR file GLOB ${0} OR file GLOB ('*/' || ${0}))"
                              : "(file = ${0} OR file GLOB ${0})");
    if (budget.layer.empty()) where += budget.file.empty() ? " AND once" : " AND once_in_file";
  }

 private:
  void add(const std::string& value, const char* condition) {
    if (value.empty()) return;
    parameters.emplace_back(value);
    where += " AND " + fmt::format(fmt::runtime(condition), parameters.size());
  }
};

constexpr char kCallsSql[] = R"(
  WITH {sums}, chosen AS (SELECT * FROM sums WHERE {where}),
       buckets AS (
         SELECT b - 1 AS b, CAST(sum(n) AS BIGINT) AS n
         FROM (SELECT unnest(hist) AS n, generate_subscripts(hist, 1) AS b FROM chosen) GROUP BY b)
  SELECT CAST(sum(calls) AS DOUBLE) AS calls, CAST(sum(errors) AS DOUBLE) AS errors,
         CAST(sum(self) AS DOUBLE) AS self, CAST(sum(dur) AS DOUBLE) AS total,
         CAST(sum(bytes) FILTER (calls > 0) AS DOUBLE) AS bytes, CAST(min(dur_min) AS BIGINT) AS least,
         CAST(max(dur_max) AS BIGINT) AS max, (SELECT list(b ORDER BY b) FROM buckets) AS bs,
         (SELECT list(n ORDER BY b) FROM buckets) AS ns
  FROM chosen)";

// The row of kCallsSql by names.
class CallSums {
 public:
  explicit CallSums(Table table) : table_(std::move(table)) {}
  [[nodiscard]] const Value& cell(std::string_view name) const {
    return table_.rows[0][column_of(table_, name)];
  }
  [[nodiscard]] std::optional<double> number(std::string_view name) const {
    return number_in(cell(name));
  }
  [[nodiscard]] bool any() const { return number("calls").value_or(0) > 0; }

  [[nodiscard]] std::optional<double> time_of_a_call(std::string_view measure) const {
    if (!any()) return std::nullopt;
    if (measure == "mean") return *number("total") / *number("calls");
    if (measure == "max") return number("max");
    const auto quantile =
        Histogram::from(cell("bs"), cell("ns"))
            .quantile(measure == "p50" ? 0.50 : 0.99, int_of(cell("least")), int_of(cell("max")));
    if (!quantile) return std::nullopt;
    return static_cast<double>(*quantile);
  }

 private:
  Table table_;
};

bool is_time_of_a_call(std::string_view measure) {
  return measure == "mean" || measure == "max" || measure == "p50" || measure == "p99";
}

}  // namespace

Result<Reading> Meter::read(const Budget& budget) {
  if (budget.measure == "sql") return query(budget);
  const MeasureDef* measure = find_measure(budget.measure, !budget.counter.empty());
  if (measure == nullptr) return absent("unknown measure");
  switch (measure->subject) {
    case Subject::kRun:
      return run(budget);
    case Subject::kCalls:
      return calls(budget);
    case Subject::kCounter:
      return counter(budget);
    case Subject::kLosses:
      return losses(budget);
    case Subject::kInsights:
      return insights(budget);
  }
  return absent("unknown measure");
}

namespace {

bool is_about_calls(const Budget& budget) {
  const MeasureDef* measure = find_measure(budget.measure, !budget.counter.empty());
  return measure != nullptr && measure->subject == Subject::kCalls;
}

// Whether the library sees the calls of a layer, from inside the program.
bool is_in_process(const std::string& layer) {
  return !trace::is_kernel(layer) && layer != "resource";
}

}  // namespace

// The layers that its calls are of; none where all are meant that have calls.
Result<std::set<std::string>> Meter::layers_meant(const Budget& budget) {
  const bool selects = !budget.function.empty() || !budget.category.empty() || !budget.file.empty();
  if (!budget.layer.empty()) return std::set<std::string>{budget.layer};
  if (selects) return layers_of_calls(budget);
  return std::set<std::string>();
}

Result<std::string> Meter::not_covered(const Budget& budget) {
  constexpr std::size_t kMostNamed = 3;
  if (!is_about_calls(budget)) return std::string();
  std::vector<std::string> programs;
  for (const trace::Part& part : store_.parts()) {
    for (const trace::NotCovered& one : part.manifest.not_covered)
      programs.push_back(fmt::format("{} ({})", one.program, one.reason));
  }
  if (programs.empty()) return std::string();
  FATHOM_ASSIGN(const std::set<std::string> layers, layers_meant(budget));
  if (!layers.empty() && std::ranges::none_of(layers, is_in_process)) return std::string();
  if (programs.size() > kMostNamed) {
    programs.resize(kMostNamed);
    programs.emplace_back("others");
  }
  return join(programs, ", ");
}

Result<std::string> Meter::lost(const Budget& budget) {
  if (!is_about_calls(budget)) return std::string();
  std::vector<trace::Loss> losses = losses_of(store_.parts());
  if (losses.empty()) return std::string();
  FATHOM_ASSIGN(const std::set<std::string> layers, layers_meant(budget));
  std::erase_if(losses, [&](const trace::Loss& loss) {
    if (trace::was_asked_for(loss)) return true;
    if (budget.file.empty() && !trace::hides_events(loss)) return true;
    if (layers.empty()) return loss.layer == "resource";
    return !loss.layer.empty() && !layers.contains(loss.layer);
  });
  return losses_text(std::move(losses));
}

Result<std::set<std::string>> Meter::layers_of_calls(const Budget& budget) {
  const Selection selection(budget);
  FATHOM_ASSIGN(const Table found,
                store_.query(fmt::format("WITH {} SELECT DISTINCT layer FROM sums WHERE {}",
                                         sums_sql(), selection.where),
                             selection.parameters));
  std::set<std::string> layers;
  for (const auto& row : found.rows) layers.insert(text_of(row[0]));
  return layers;
}

Result<const CounterSums*> Meter::counters() {
  if (!counters_) {
    FATHOM_ASSIGN(counters_, counter_sums(store_));
  }
  return &*counters_;
}

Result<Reading> Meter::run(const Budget& budget) {
  if (budget.measure == "wall") {
    FATHOM_ASSIGN(const std::int64_t wall, store_.wall_ns());
    return Reading{static_cast<double>(wall), budget.unit, ""};
  }
  FATHOM_ASSIGN(const CounterSums* sums, counters());
  if (budget.measure == "memory") {
    const std::optional<double> most = find_counter(*sums, "rss", "max");
    // A process that was sampled only when it was ending had no memory any more.
    if (!most || *most <= 0) return absent("layer resource sampled no memory");
    return Reading{most, budget.unit, ""};
  }
  const std::optional<double> user = find_counter(*sums, "cpu_user", "total");
  const std::optional<double> system = find_counter(*sums, "cpu_system", "total");
  if (!user || !system) return absent("layer resource sampled no CPU time");
  return Reading{*user + *system, budget.unit, ""};
}

Result<Reading> Meter::calls(const Budget& budget) {
  const std::string missing = budget.layer.empty() ? "" : layer_missing(store_, budget.layer);
  if (!missing.empty()) return absent(missing);
  const Selection selection(budget);
  FATHOM_ASSIGN(Table found, store_.query(fmt::format(kCallsSql, fmt::arg("sums", sums_sql()),
                                                      fmt::arg("where", selection.where)),
                                          selection.parameters));
  const CallSums sums(std::move(found));
  // A layer that was recorded and in which nothing happened did nothing; a name that is not there
  // may be misspelt.
  const bool only_layer = budget.function.empty() && budget.category.empty() && budget.file.empty();
  const bool layer_known = only_layer && !budget.layer.empty();
  if (!sums.any() && !layer_known) {
    return absent(only_layer ? "no call was recorded" : "no recorded call matches");
  }
  Reading reading{std::nullopt, budget.unit, ""};
  if (is_time_of_a_call(budget.measure)) {
    reading.value = sums.time_of_a_call(budget.measure);
    if (!reading.value) reading.detail = "no recorded call has a time";
    return reading;
  }
  if (budget.measure == "share") {
    FATHOM_ASSIGN(const TimeBase base, time_base(store_));
    if (base.thread_time <= 0) return absent("the threads' time is not known");
    reading.value = 100 * sums.number("self").value_or(0) / static_cast<double>(base.thread_time);
    return reading;
  }
  reading.value = sums.number(budget.measure);
  if (!reading.value && !budget.function.empty()) return absent("these calls move no bytes");
  reading.value = reading.value.value_or(0);
  return reading;
}

Result<Reading> Meter::counter(const Budget& budget) {
  FATHOM_ASSIGN(const CounterSums* sums, counters());
  std::vector<std::string> others;
  for (const auto& [key, sum] : *sums) {
    if (key.name != budget.counter || (!budget.layer.empty() && key.layer != budget.layer))
      continue;
    if (key.statistic == budget.measure) return Reading{sum.value, sum.measure, ""};
    others.push_back(key.statistic);
  }
  if (others.empty()) return absent("no counter '" + budget.counter + "' was recorded");
  return absent("this counter has " + join(others, " and "));
}

Result<Reading> Meter::losses(const Budget& budget) {
  const std::string missing = budget.layer.empty() ? "" : layer_missing(store_, budget.layer);
  if (!missing.empty()) return absent(missing);
  double count = 0;
  std::vector<std::string> reasons;
  for (const trace::Loss& loss : losses_of(store_.parts())) {
    if (!budget.layer.empty() && loss.layer != budget.layer) continue;
    count += static_cast<double>(loss.count);
    reasons.push_back(loss.reason);
  }
  return Reading{count, budget.unit, join(reasons, ", ")};
}

Result<Reading> Meter::insights(const Budget& budget) {
  std::vector<Rule> asked;
  for (const Rule& rule : rules_) {
    const bool meant =
        budget.rule.empty() ? rule.severity != Severity::kGood : rule.id == budget.rule;
    if (meant) asked.push_back(rule);
  }
  if (asked.empty()) {
    return absent(budget.rule.empty() ? "there is no rule of this severity"
                                      : "there is no rule '" + budget.rule + "'");
  }
  FATHOM_ASSIGN(const std::vector<Insight> found, find_insights(store_, asked));
  std::vector<std::string> names;
  for (const Insight& insight : found) {
    if (!budget.rule.empty() || insight.severity <= budget.severity) names.push_back(insight.rule);
  }
  return Reading{static_cast<double>(names.size()), budget.unit, join(names, ", ")};
}

Result<Reading> Meter::query(const Budget& budget) {
  const Result<Table> found = store_.query_untrusted(budget.sql);
  if (!found) return absent(found.error().message);
  if (found->rows.size() != 1 || found->columns.size() != 1) {
    return absent(fmt::format("the query returns {} with {}, not one number",
                              counted(found->rows.size(), "row"),
                              counted(found->columns.size(), "column")));
  }
  const std::optional<double> number = number_in(found->rows[0][0]);
  if (!number) return absent("the query returns no number");
  return Reading{number, budget.unit, ""};
}

}  // namespace fathom::analysis
