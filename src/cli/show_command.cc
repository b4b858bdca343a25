// SPDX-License-Identifier: MIT
// `fathom show`: what the rules found, or the rows behind one of them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/repetitions.h"
#include "analysis/insights/insights.h"
#include "base/plural.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "render/insight_text.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

struct Arguments {
  std::string trace, rule;
  OutputOptions output;
  std::vector<std::string> rules;
  bool all = false;
};

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positional("TRACE", a.trace, kTraceHelp);
  parser.optional_positional("RULE", a.rule,
                             "show the evidence for this rule (default: list what fired)");
  parser.flag("--all", a.all, "also list rules that found nothing");
  parser.option("--rules", a.rules, "DIR,…", "directories with your own rules (*.sql)");
  declare_output(parser, a.output);
  return parser.parse();
}

Error unknown_rule(const std::string& name, const std::vector<analysis::Rule>& rules) {
  std::vector<std::string_view> names;
  for (const analysis::Rule& rule : rules) names.push_back(rule.id);
  const std::string_view near = nearest(name, names);
  return usage_error("there is no rule '" + name + "'",
                     near.empty() ? "'fathom show TRACE' lists them"
                                  : "did you mean '" + std::string(near) + "'?");
}

void add_silent_rules(const std::vector<analysis::Rule>& rules,
                      const std::vector<analysis::Insight>& found, Table& table) {
  for (const analysis::Rule& rule : rules) {
    if (std::ranges::find(found, rule.id, &analysis::Insight::rule) != found.end()) continue;
    table.rows.push_back(
        {rule.id, std::string(analysis::severity_name(rule.severity)), Value(), Value()});
  }
}

Table overview_of(const std::vector<analysis::Rule>& rules,
                  const std::vector<analysis::Insight>& found, bool all) {
  Table table{.title = "Rules",
              .columns = {{"rule"}, {"severity"}, {"gain", Measure::kNanoseconds}, {"says"}},
              .rows = {},
              .note = {}};
  for (const analysis::Insight& one : found) {
    table.rows.push_back({one.rule, std::string(analysis::severity_name(one.severity)),
                          one.gain_ns ? Value(*one.gain_ns) : Value(), one.says});
  }
  if (all) add_silent_rules(rules, found, table);
  table.note = fmt::format("{} of {} fired{}", found.size(), counted(rules.size(), "rule"),
                           all ? "" : "; --all lists the others");
  return table;
}

// People read the advice above its rows; programs get both as tables.
std::string with_evidence(const std::vector<analysis::Insight>& found, Table rows,
                          const Output& output) {
  if (output.for_people())
    return render::insight_text(found, output.format, output.style) +
           render::render(rows, output.format, output.style);
  rows.title = "Evidence";
  const Table tables[] = {render::insight_table(found), std::move(rows)};
  return render::render_document(tables, output.format, output.style);
}

Result<int> run(Parser& parser) {
  Arguments a;
  FATHOM_ASSIGN(const bool go_on, parse(parser, a));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(a.output));
  FATHOM_ASSIGN(const std::vector<analysis::Rule> rules, analysis::rules_for(a.rules));
  const auto chosen = std::ranges::find(rules, a.rule, &analysis::Rule::id);
  if (!a.rule.empty() && chosen == rules.end()) return unknown_rule(a.rule, rules);
  FATHOM_ASSIGN(const std::string trace, find_trace(a.trace));
  const std::optional<analysis::Repetitions> repeated = analysis::repetitions_in(trace);
  FATHOM_ASSIGN(analysis::Store store, open_store(repeated ? repeated->shown : trace));
  if (repeated) remark(repeated->words);
  if (a.rule.empty()) {
    FATHOM_ASSIGN(const std::vector<analysis::Insight> found,
                  analysis::find_insights(store, rules));
    FATHOM_TRY(
        print(render::render(overview_of(rules, found, a.all), output.format, output.style)));
    return 0;
  }
  FATHOM_ASSIGN(const std::vector<analysis::Insight> found,
                analysis::find_insights(store, std::span(&*chosen, 1)));
  FATHOM_ASSIGN(Table rows, analysis::evidence_of(store, *chosen));
  FATHOM_TRY(print(with_evidence(found, std::move(rows), output)));
  return 0;
}

}  // namespace

extern const CommandDef kShowCommand;
const CommandDef kShowCommand = {
    .name = "show",
    .summary = "Show what the rules found in a recording, and the evidence for one rule",
    .usage = "TRACE [RULE] [OPTION…]",
    .example = "fathom show sort.fathom\nfathom show sort.fathom small-reads",
    .run = run,
};

}  // namespace fathom::cli
