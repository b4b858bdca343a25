// SPDX-License-Identifier: MIT
// Runs rules as untrusted SQL, ours too: then a user's rule can do exactly what ours can.
#include "analysis/insights/insights.h"

#include <algorithm>
#include <tuple>

#include "analysis/insights/own_rules.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

Error of_rule(const Rule& rule, const Error& error) {
  return {error.code, "rule " + rule.id + ": " + error.message, error.hint};
}

// Such a rule waits until everything is packed.
bool reads_events(const Rule& rule) {
  return rule.query.find("FROM events") != std::string::npos ||
         rule.query.find("JOIN events") != std::string::npos;
}

std::optional<std::int64_t> gain_in(const Table& table) {
  const auto column = std::ranges::find(table.columns, "gain", &Column::name);
  if (column == table.columns.end()) return std::nullopt;
  const Value& cell = table.rows[0][static_cast<std::size_t>(column - table.columns.begin())];
  const auto* gain = std::get_if<std::int64_t>(&cell.data);
  if (gain == nullptr || *gain <= 0) return std::nullopt;
  return *gain;
}

Result<std::optional<Insight>> ask(Store& store, const Rule& rule) {
  const Result<Table> found = store.query_untrusted(rule.query);
  if (!found) return of_rule(rule, found.error());
  if (found->rows.empty()) return std::optional<Insight>();
  const Result<std::string> says = fill_in(rule.says, *found, found->rows[0]);
  if (!says) return of_rule(rule, says.error());
  const Result<std::string> advice = fill_in(rule.advice, *found, found->rows[0]);
  if (!advice) return of_rule(rule, advice.error());
  return std::optional<Insight>({.rule = rule.id,
                                 .severity = rule.severity,
                                 .title = rule.title,
                                 .says = *says,
                                 .gain_ns = gain_in(*found),
                                 .gain = rule.gain,
                                 .advice = *advice});
}

}  // namespace

Result<std::vector<Rule>> own_rules() {
  std::vector<Rule> rules;
  for (const OwnRule& own : own_rule_texts()) {
    FATHOM_ASSIGN(Rule rule, parse_rule(own.text, std::string(own.name)));
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
  const bool has_events = store.query("SELECT ts FROM events LIMIT 0").has_value();
  for (const Rule& rule : rules) {
    if (!has_events && reads_events(rule)) continue;
    FATHOM_ASSIGN(std::optional<Insight> insight, ask(store, rule));
    if (insight) insights.push_back(std::move(*insight));
  }
  std::ranges::sort(insights, [](const Insight& a, const Insight& b) {
    return std::tuple(a.severity, -a.gain_ns.value_or(0), a.rule) <
           std::tuple(b.severity, -b.gain_ns.value_or(0), b.rule);
  });
  return insights;
}

Result<Table> evidence_of(Store& store, const Rule& rule) {
  Result<Table> rows = store.query_untrusted(rule.evidence);
  if (!rows) return of_rule(rule, rows.error());
  rows->title = rule.title;
  if (rows->rows.empty()) rows->note = "no row in this recording";
  return rows;
}

}  // namespace fathom::analysis
