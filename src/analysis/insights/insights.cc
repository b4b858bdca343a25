// SPDX-License-Identifier: MIT
// Runs rules and weighs what they found by the time that could be saved. A rule's SQL is a
// stranger's unless it is ours: it is judged before it runs, and a rule that fails is an error of
// that rule, not of the report.
#include "analysis/insights/insights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/insights/own_rules.h"
#include "analysis/view_tools.h"
#include "base/cell.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

Error of_rule(const Rule& rule, const Error& error) {
  return {error.code, "rule " + rule.id + ": " + error.message, error.hint};
}

// Views of reports, among them `waits`, are made for such a rule.
constexpr char kSamples[] = "samples";
bool reads_samples(const Rule& rule) {
  return std::ranges::find(rule.needs, kSamples, &RuleNeed::of) != rule.needs.end();
}

// Such a rule waits until everything is packed.
bool reads_events(const Rule& rule) {
  return reads_samples(rule) || rule.query.find("FROM events") != std::string::npos ||
         rule.query.find("JOIN events") != std::string::npos;
}

// Of the run's time. A gain that is smaller than the least is not worth a sentence.
constexpr double kLeastGain = 0.01;
constexpr double kMediumGain = 0.03;
constexpr double kHighGain = 0.1;

// What a recording has of each layer and category: calls; and how many processes and samples.
using Counts = std::map<std::string, std::int64_t, std::less<>>;

constexpr char kCounts[] = R"(
  SELECT layer, CAST(sum(calls) AS BIGINT) FROM summary WHERE layer IS NOT NULL GROUP BY layer
  UNION ALL SELECT category, CAST(sum(calls) AS BIGINT) FROM summary WHERE category IS NOT NULL GROUP BY category
  UNION ALL SELECT 'processes', greatest((SELECT count(DISTINCT (host, pid)) FROM summary),
                                         (SELECT processes FROM totals))
  UNION ALL SELECT 'samples', (SELECT count(*) FROM samples))";

Result<Counts> counts_of(Store& store) {
  FATHOM_ASSIGN(const Table rows, store.query_sums(kCounts));
  Counts counts;
  for (const auto& row : rows.rows) counts[text_of(row[0])] += int_of(row[1]);
  return counts;
}

bool is_met(const std::vector<RuleNeed>& needs, const Counts& counts) {
  return std::ranges::all_of(needs, [&](const RuleNeed& need) {
    const auto found = counts.find(need.of);
    return found != counts.end() && found->second >= need.least;
  });
}

// None where the rule cannot tell.
std::optional<std::int64_t> gain_in(const Table& table) {
  const auto column = std::ranges::find(table.columns, "gain", &Column::name);
  if (column == table.columns.end()) return std::nullopt;
  const Value& cell = table.rows[0][static_cast<std::size_t>(column - table.columns.begin())];
  const auto* gain = std::get_if<std::int64_t>(&cell.data);
  if (gain == nullptr) return std::nullopt;
  return std::max<std::int64_t>(*gain, 0);
}

// Ours pass the judge of strangers' SQL in a test: asking it again takes longer than the question.
Result<Table> query_of(Store& store, const Rule& rule, const std::string& sql) {
  if (rule.own && reads_samples(rule)) return store.query(sql);
  return rule.own ? store.query_sums(sql) : store.query_untrusted(sql);
}

Result<std::optional<Insight>> ask(Store& store, const Rule& rule) {
  const Result<Table> found = query_of(store, rule, rule.query);
  if (!found) return of_rule(rule, found.error());
  if (found->rows.empty()) return std::optional<Insight>();
  const Result<std::string> says = fill_in(rule.says, *found, found->rows[0]);
  if (!says) return of_rule(rule, says.error());
  const Result<std::string> advice = fill_in(rule.advice, *found, found->rows[0]);
  if (!advice) return of_rule(rule, advice.error());
  const Result<std::string> place = fill_in(rule.place, *found, found->rows[0]);
  if (!place) return of_rule(rule, place.error());
  if (!place->empty() && !is_place(*place))
    return of_rule(rule, {Code::kCorrupt, "'" + *place + "' is no place", ""});
  return std::optional<Insight>({.rule = rule.id,
                                 .severity = rule.severity,
                                 .title = rule.title,
                                 .says = *says,
                                 .gain_ns = gain_in(*found),
                                 .gain = rule.gain,
                                 .advice = *advice,
                                 .place = *place});
}

// Nothing saves more than the run took, and how grave it is depends on what it saves. False where
// that is next to nothing.
bool weigh(std::int64_t wall, Insight& insight) {
  if (insight.severity == Severity::kGood || !insight.gain_ns) return true;
  insight.gain_ns = std::min(*insight.gain_ns, wall);
  const double part =
      static_cast<double>(*insight.gain_ns) / static_cast<double>(std::max<std::int64_t>(wall, 1));
  insight.severity = part >= kHighGain     ? Severity::kHigh
                     : part >= kMediumGain ? Severity::kMedium
                                           : Severity::kLow;
  return part >= kLeastGain;
}

// What pays most, then what has no price, then what is well.
bool comes_before(const Insight& a, const Insight& b) {
  const auto place = [](const Insight& one) {
    return std::tuple(one.severity == Severity::kGood, -one.gain_ns.value_or(0), one.severity,
                      std::string_view(one.rule));
  };
  return place(a) < place(b);
}

// The views that rules ask, as tables while they do: read and planned once, not forty times.
class AskedTables {
 public:
  explicit AskedTables(Store& store) : store_(store) {}
  void make() {
    if (!fits(store_)) return;
    for (const char* name : kNames) {
      // A filter's views stay as they are.
      if (!store_.query_sums(fmt::format("CREATE TEMP TABLE {0} AS SELECT * FROM {0}", name)))
        break;
      made_.emplace_back(name);
    }
  }
  ~AskedTables() {
    for (const std::string& name : made_) (void)store_.query_sums("DROP TABLE temp." + name);
  }
  AskedTables(const AskedTables&) = delete;
  AskedTables& operator=(const AskedTables&) = delete;

 private:
  // Sums of very many recordings stay in their files.
  static bool fits(Store& store) {
    constexpr std::int64_t kMostRows = 1 << 20;
    const Result<Table> rows = store.query_sums("SELECT count(*) FROM summary");
    return rows && int_of(rows->rows[0][0]) <= kMostRows;
  }

  // In this order: each is made of those before it.
  // The totals come last: a report has them as a table already (time_base).
  static constexpr const char* kNames[] = {"summary", "data_calls", "machine",
                                           "io",      "pace",       "totals"};
  Store& store_;
  std::vector<std::string> made_;
};

}  // namespace

Result<std::vector<Rule>> own_rules() {
  std::vector<Rule> rules;
  for (const OwnRule& own : own_rule_texts()) {
    FATHOM_ASSIGN(Rule rule, parse_rule(own.text, std::string(own.name)));
    rule.own = true;
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<Rule>> rules_in(const std::string& directory) {
  FATHOM_ASSIGN(const std::vector<std::string> names, list_dir(directory));
  std::vector<Rule> rules;
  for (const std::string& name : names) {
    if (!name.ends_with(".sql")) continue;
    const std::string path = join_path(directory, name);
    FATHOM_ASSIGN(const std::string text, read_file(path));
    FATHOM_ASSIGN(Rule rule, parse_rule(text, path));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<Rule>> all_rules(std::span<const std::string> directories) {
  FATHOM_ASSIGN(std::vector<Rule> rules, own_rules());
  for (const std::string& directory : directories) {
    FATHOM_ASSIGN(std::vector<Rule> more, rules_in(directory));
    for (Rule& rule : more) {
      std::erase_if(rules, [&](const Rule& known) { return known.id == rule.id; });
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

Result<std::vector<Insight>> find_insights(Store& store, std::span<const Rule> rules) {
  std::vector<Insight> insights;
  if (rules.empty()) return insights;
  FATHOM_ASSIGN(const std::int64_t wall, store.wall_ns());
  const bool has_events = store.query_sums("SELECT ts FROM events LIMIT 0").has_value();
  AskedTables tables(store);
  tables.make();
  FATHOM_ASSIGN(const Counts counts, counts_of(store));
  if (has_events && std::ranges::any_of(rules, [&](const Rule& rule) {
        return reads_samples(rule) && is_met(rule.needs, counts);
      }))
    FATHOM_TRY(hold_waits(store));
  for (const Rule& rule : rules) {
    if (!is_met(rule.needs, counts) || (!has_events && reads_events(rule))) continue;
    FATHOM_ASSIGN(std::optional<Insight> insight, ask(store, rule));
    if (insight && weigh(wall, *insight)) insights.push_back(std::move(*insight));
  }
  std::ranges::sort(insights, comes_before);
  return insights;
}

Result<Table> evidence_of(Store& store, const Rule& rule) {
  Result<Table> rows = query_of(store, rule, rule.evidence);
  if (!rows) return of_rule(rule, rows.error());
  rows->title = rule.title;
  if (rows->rows.empty()) rows->note = "no row in this recording";
  return rows;
}

}  // namespace fathom::analysis
