// SPDX-License-Identifier: MIT
// Two jobs compared, and one job over time. The statistics are those of `fathom stat` and `fathom
// diff` (analysis/compare); here is only what is put into them, and how the outcome is laid out.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/compare/change_points.h"
#include "analysis/compare/trials.h"
#include "base/plural.h"
#include "base/text.h"
#include "fleet/history.h"
#include "render/json_writer.h"

namespace fathom::fleet {
namespace {

using analysis::ChangePoint;
using analysis::TrialComparison;
using analysis::Trials;
using analysis::Verdict;

void add_notes(const std::string& job, const History& history, std::vector<std::string>& notes) {
  const auto tell = [&](std::int64_t count, std::string_view what, std::string_view why) {
    if (count > 0)
      notes.push_back(fmt::format("{}: {} left out: {}", job, counted(count, what), why));
  };
  tell(history.damaged, "record", "damaged, or not a record of a benchmark");
  tell(history.failed_runs, "run", "the program failed");
  tell(history.beyond_limits, "value", "too many benchmarks or metrics");
}

bool has_runs(const History& history) {
  return std::ranges::any_of(history.benchmarks,
                             [](const BenchmarkHistory& one) { return !one.metrics.empty(); });
}

// Nothing was measured: never a good result.
Error nothing_in(const std::string& job, const History& history) {
  std::vector<std::string> notes;
  add_notes(job, history, notes);
  const std::string why = notes.empty() ? "" : " (" + join(notes, "; ") + ")";
  return {Code::kInvalid, "job '" + job + "' has no runs that succeeded" + why,
          "fathom agent bench --job " + job + " -- CMD measures a command"};
}

Result<History> read_runs(JobStore& store, const std::string& job, std::string_view kind) {
  FATHOM_ASSIGN(History history, read_history(store, job, kind));
  if (!has_runs(history)) return nothing_in(job, history);
  return history;
}

// --- Two jobs ---

std::vector<double> all_values(const MetricHistory& metric) {
  std::vector<double> values;
  for (const MetricHistory::Point& point : metric.points)
    values.insert(values.end(), point.values.begin(), point.values.end());
  return values;
}

// A metric that both jobs measured of one benchmark on machines of one class.
struct Pair {
  const BenchmarkHistory* benchmark = nullptr;
  std::string metric;
  std::vector<double> before;
  std::vector<double> after;
};

std::vector<Pair> pairs_of(const History& before, const History& after) {
  std::vector<Pair> pairs;
  for (const BenchmarkHistory& one : before.benchmarks) {
    const auto place = after.places.find({one.benchmark, one.machine});
    if (place == after.places.end()) continue;
    const std::vector<MetricHistory>& others = after.benchmarks[place->second].metrics;
    for (const MetricHistory& metric : one.metrics) {
      const auto same = std::ranges::find(others, metric.metric, &MetricHistory::metric);
      if (same == others.end()) continue;
      pairs.push_back({&one, metric.metric, all_values(metric), all_values(*same)});
    }
  }
  return pairs;
}

Error nothing_in_common(const History& before, const History& after) {
  const bool same_commands =
      std::ranges::any_of(before.benchmarks, [&](const BenchmarkHistory& one) {
        return std::ranges::count(after.benchmarks, one.benchmark, &BenchmarkHistory::benchmark) >
               0;
      });
  if (same_commands)
    return {Code::kInvalid, "both jobs ran the same benchmarks, but on different machines",
            "measure both on machines with the same facts (fathom job show JOB --benchmarks)"};
  return {Code::kInvalid, "the jobs have no benchmark in common",
          "fathom job show JOB --benchmarks lists the commands of a job"};
}

Value comparison_row(const Pair& pair, const TrialComparison& one) {
  const auto& ratio = one.ratio;
  return Object{{"benchmark", pair.benchmark->benchmark},
                {"host", pair.benchmark->host},
                {"metric", one.metric},
                {"before", analysis::median(pair.before)},
                {"after", analysis::median(pair.after)},
                {"ratio", ratio ? Value(ratio->value) : Value()},
                {"low", ratio ? Value(ratio->interval.low) : Value()},
                {"high", ratio ? Value(ratio->interval.high) : Value()},
                {"p", one.p},
                {"verdict", std::string(name_of(one.verdict))},
                {"needs", one.needs == 0 ? Value() : static_cast<std::int64_t>(one.needs)}};
}

Table table_of(const std::vector<Value>& rows, std::string title) {
  Table table;
  table.title = std::move(title);
  for (const Value& row : rows) {
    const auto& object = std::get<Object>(row.data);
    std::vector<Value> cells;
    for (const auto& [name, value] : object) {
      if (table.rows.empty()) table.columns.push_back({name});
      cells.push_back(value);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// --- One job over time ---

struct Change {
  const BenchmarkHistory* benchmark = nullptr;
  std::string metric;
  std::int64_t record = 0;
  // It happened after the record before `from`, and not after `to`.
  std::int64_t from = 0;
  std::int64_t to = 0;
  ChangePoint point;
};

// A value for each record: records, not runs, are what a change lies between.
Trials medians_of(const BenchmarkHistory& benchmark) {
  Trials history;
  for (const MetricHistory& metric : benchmark.metrics) {
    analysis::Series& series = history.emplace_back();
    series.metric = metric.metric;
    for (const MetricHistory::Point& point : metric.points)
      series.values.push_back(analysis::median(point.values));
  }
  return history;
}

std::vector<Change> changes_of(const BenchmarkHistory& benchmark) {
  std::vector<Change> changes;
  const auto found = analysis::change_points(medians_of(benchmark), {});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<MetricHistory::Point>& points = benchmark.metrics[i].points;
    for (const ChangePoint& point : found[i]) {
      changes.push_back({&benchmark, benchmark.metrics[i].metric, points[point.index].record,
                         points[point.first - 1].record + 1, points[point.last].record, point});
    }
  }
  return changes;
}

// Changes that may have happened at one time are one alert: the fewest alerts that explain all.
std::vector<std::vector<Change>> group(std::vector<Change> changes) {
  std::ranges::stable_sort(changes, {}, &Change::to);
  std::vector<std::vector<Change>> groups;
  for (Change& change : changes) {
    if (groups.empty() || change.from > groups.back().front().to) groups.emplace_back();
    groups.back().push_back(std::move(change));
  }
  return groups;
}

// Where most of them saw it, and the first such place.
std::int64_t record_of(const std::vector<Change>& changes) {
  std::map<std::int64_t, std::size_t> votes;
  for (const Change& change : changes) ++votes[change.record];
  return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
}

Value change_row(const Change& change) {
  const analysis::Estimate& estimate = change.point.estimate;
  const auto& ratio = estimate.ratio;
  return Object{
      {"benchmark", change.benchmark->benchmark},
      {"host", change.benchmark->host},
      {"metric", change.metric},
      {"before", estimate.before},
      {"after", estimate.after},
      {"ratio", ratio ? Value(ratio->value) : Value()},
      {"low", ratio ? Value(ratio->interval.low) : Value()},
      {"high", ratio ? Value(ratio->interval.high) : Value()},
      {"p", change.point.p},
      {"verdict", std::string(name_of(estimate.change > 0 ? Verdict::kSlower : Verdict::kFaster))}};
}

RecordFacts facts_of(const History& history, std::int64_t record) {
  const auto found = std::ranges::lower_bound(history.records, record, {}, &RecordFacts::record);
  return found == history.records.end() ? RecordFacts{} : *found;
}

void add_alert(const History& history, const std::vector<Change>& changes, List& alerts,
               std::vector<Value>& rows) {
  const std::int64_t record = record_of(changes);
  const RecordFacts facts = facts_of(history, record);
  List listed;
  for (const Change& change : changes) {
    listed.push_back(change_row(change));
    Object row{{"record", record}, {"revision", facts.revision}};
    const Object& cells = std::get<Object>(listed.back().data);
    row.insert(row.end(), cells.begin(), cells.end());
    rows.emplace_back(std::move(row));
  }
  alerts.push_back(Object{{"index", record},
                          {"revision", facts.revision},
                          {"time", facts.time},
                          {"changes", std::move(listed)}});
}

// Silence must not be taken for a good result where nothing could have been said.
void add_limits(const History& history, std::vector<std::string>& notes) {
  std::size_t longest = 0;
  for (const BenchmarkHistory& benchmark : history.benchmarks) {
    for (const MetricHistory& metric : benchmark.metrics)
      longest = std::max(longest, metric.points.size());
  }
  if (longest < analysis::kLeastHistory)
    notes.push_back(fmt::format("no benchmark has enough records to show a change: {} of {}",
                                longest, analysis::kLeastHistory));
  if (longest > analysis::kMostHistory)
    notes.push_back(fmt::format("only the last {} records of each benchmark were looked at",
                                analysis::kMostHistory));
}

}  // namespace

Result<HistoryAnswer> compare_jobs(JobStore& store, const std::string& before,
                                   const std::string& after, std::string_view kind) {
  FATHOM_ASSIGN(const History one, read_runs(store, before, kind));
  FATHOM_ASSIGN(const History other, read_runs(store, after, kind));
  const std::vector<Pair> pairs = pairs_of(one, other);
  if (pairs.empty()) return nothing_in_common(one, other);
  std::vector<analysis::TrialPair> trials;
  for (const Pair& pair : pairs) trials.push_back({pair.metric, pair.before, pair.after});
  const std::vector<TrialComparison> compared = analysis::compare_pairs(trials, {});
  HistoryAnswer answer;
  std::vector<Value> rows;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    rows.push_back(comparison_row(pairs[i], compared[i]));
    answer.found |= compared[i].verdict == Verdict::kSlower;
  }
  add_notes(before, one, answer.notes);
  add_notes(after, other, answer.notes);
  answer.tables.push_back(table_of(rows, "Comparison"));
  answer.object = Object{{"comparison", List(rows.begin(), rows.end())}};
  return answer;
}

Result<HistoryAnswer> trend_of(JobStore& store, const std::string& job, std::string_view kind) {
  FATHOM_ASSIGN(const History history, read_runs(store, job, kind));
  std::vector<Change> changes;
  for (const BenchmarkHistory& benchmark : history.benchmarks) {
    for (Change& change : changes_of(benchmark)) changes.push_back(std::move(change));
  }
  HistoryAnswer answer;
  List alerts;
  std::vector<Value> rows;
  for (const std::vector<Change>& one : group(std::move(changes)))
    add_alert(history, one, alerts, rows);
  answer.found = !alerts.empty();
  add_notes(job, history, answer.notes);
  add_limits(history, answer.notes);
  answer.tables.push_back(table_of(rows, "Alerts"));
  if (alerts.empty()) answer.tables.back().note = "no change was found";
  answer.object = Object{{"alerts", std::move(alerts)}};
  return answer;
}

std::string answer_text(const HistoryAnswer& answer, render::Format format,
                        const render::Style& style) {
  if (format != render::Format::kJson) return render_document(answer.tables, format, style);
  std::string text;
  render::JsonWriter(text).value(answer.object);
  return text + "\n";
}

}  // namespace fathom::fleet
