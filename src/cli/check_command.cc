// SPDX-License-Identifier: MIT
// `fathom check`: exit status 1 says that a limit was broken, 3 that something could not be
// checked, so that CI can tell the two apart.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "analysis/check/check.h"
#include "analysis/facts.h"
#include "analysis/losses.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "render/insight_text.h"
#include "render/render.h"
#include "trace/recording/manifest.h"

namespace fathom::cli {
namespace {

using analysis::Verdict;

struct Arguments {
  std::string trace, budget, baseline, junit, markdown;
  OutputOptions output;
  std::vector<std::string> rules;
  bool partial = false;
};

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positional("TRACE", a.trace, kTraceHelp);
  parser.option("--budget", a.budget, "FILE", "file with the limits, in YAML; see docs/budget.md");
  parser.option("--baseline", a.baseline, "TRACE", "recording that limits such as +5% refer to");
  parser.option("--junit", a.junit, "FILE", "also write the result as JUnit XML");
  parser.option("--markdown", a.markdown, "FILE", "also write the table as Markdown");
  parser.option("--rules", a.rules, "DIR,…",
                "directories with your own rules, for budgets on insights");
  parser.flag("--partial", a.partial, "check an incomplete recording, or one with losses");
  declare_output(parser, a.output);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (go_on && a.budget.empty()) {
    return usage_error("no budget file was given", "fathom check TRACE --budget FILE");
  }
  return go_on;
}

// A sum that is too small keeps a limit that the run broke.
Result<analysis::Store> open_whole(const std::string& path, bool events, bool partial) {
  FATHOM_ASSIGN(analysis::Store store, events ? open_store(path) : open_sums(path));
  if (store.state() == trace::RunState::kComplete || partial) return store;
  return Error{Code::kInvalid,
               fmt::format("{} is {}: its sums do not cover the whole run", path,
                           trace::to_text(store.state())),
               "use --partial to check it anyway"};
}

Status write_files(const Arguments& a, const std::vector<analysis::Outcome>& outcomes,
                   const std::string& lost) {
  if (!a.junit.empty()) {
    FATHOM_TRY(write_file_atomic(a.junit, analysis::outcome_junit(outcomes, lost)));
  }
  if (a.markdown.empty()) return {};
  return write_file_atomic(a.markdown, render::render(analysis::outcome_table(outcomes, lost),
                                                      render::Format::kMarkdown));
}

Result<int> verdict_on(const std::vector<analysis::Outcome>& outcomes) {
  for (const analysis::Outcome& outcome : outcomes) {
    if (outcome.verdict == Verdict::kUnknown) {
      return Error{
          Code::kInvalid,
          fmt::format("budget '{}' cannot be checked: {}", outcome.budget.name, outcome.detail),
          outcome.detail.starts_with("lost:")
              ? "record without losses, or use --partial to check what was recorded"
              : "use --partial to check what was recorded"};
    }
    if (outcome.verdict != Verdict::kMissing) continue;
    return Error{
        Code::kNotFound,
        fmt::format("budget '{}' cannot be checked: {}", outcome.budget.name, outcome.detail),
        "add 'optional: true' to skip it in that case"};
  }
  return analysis::count_of(outcomes, Verdict::kBroken) > 0 ? 1 : 0;
}

Result<int> run(Parser& parser) {
  Arguments a;
  FATHOM_ASSIGN(const bool go_on, parse(parser, a));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(a.output));
  FATHOM_ASSIGN(const std::string text, read_file(a.budget));
  FATHOM_ASSIGN(const std::vector<analysis::Budget> budgets,
                analysis::parse_budgets(text, a.budget));
  FATHOM_ASSIGN(const std::vector<analysis::Rule> rules, analysis::rules_for(a.rules));
  const bool events = analysis::needs_events(budgets);
  FATHOM_ASSIGN(analysis::Store store, open_whole(a.trace, events, a.partial));
  std::optional<analysis::Store> baseline;
  if (!a.baseline.empty()) {
    FATHOM_ASSIGN(analysis::Store opened, open_whole(a.baseline, events, a.partial));
    baseline.emplace(std::move(opened));
  }
  FATHOM_ASSIGN(const std::vector<analysis::Outcome> outcomes,
                analysis::check_budgets(budgets, {.store = store,
                                                  .baseline = baseline ? &*baseline : nullptr,
                                                  .rules = rules,
                                                  .ignores_losses = a.partial}));
  const std::string lost = analysis::losses_text(analysis::losses_of(store.parts()));
  const Table table = output.for_people() ? analysis::outcome_table(outcomes, lost)
                                          : analysis::outcome_rows(outcomes);
  FATHOM_TRY(print(render::render(table, output.format, output.style)));
  if (!output.for_people() && !lost.empty()) remark("lost: " + lost);
  FATHOM_TRY(write_files(a, outcomes, lost));
  return verdict_on(outcomes);
}

}  // namespace

extern const CommandDef kCheckCommand;
const CommandDef kCheckCommand = {
    .name = "check",
    .summary = "Check a recording against a budget, for CI; exit status 1 if a limit is exceeded",
    .usage = "TRACE --budget FILE [OPTION…]",
    .example =
        "fathom check sort.fathom --budget budget.yaml --junit budget.xml\n"
        "fathom check new.fathom --budget budget.yaml --baseline main.fathom",
    .run = run,
};

}  // namespace fathom::cli
