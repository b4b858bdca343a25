// SPDX-License-Identifier: MIT
// `fathom check`: exit status 1 says that a limit was broken, 3 that something could not be
// checked, so that CI can tell the two apart.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/check/check.h"
#include "analysis/compare/repetitions.h"
#include "analysis/facts.h"
#include "analysis/losses.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/text.h"
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

using analysis::BudgetVerdict;

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

// What a recording, or repetitions of one, say to the budgets.
struct Side {
  std::vector<analysis::RunReadings> runs;
  trace::Manifest lost;  // of all
};

// A sum that is too small keeps a limit that the run broke.
Result<analysis::Store> open_whole(const std::string& path, bool events, bool partial) {
  FATHOM_ASSIGN(analysis::Store store, events ? open_store(path) : open_sums(path));
  if (store.state() == trace::RunState::kComplete || partial) return store;
  return Error{Code::kInvalid,
               fmt::format("{} is {}: its sums do not cover the whole run", path,
                           trace::to_text(store.state())),
               "use --partial to check it anyway"};
}

// One recording is open at a time: its numbers stay.
Result<Side> read_side(const std::string& word, const std::vector<analysis::Budget>& budgets,
                       const std::vector<analysis::Rule>& rules, analysis::Which which,
                       bool partial) {
  Side side;
  FATHOM_ASSIGN(const std::string trace, find_trace(word));
  for (const std::string& path : analysis::runs_in(trace)) {
    FATHOM_ASSIGN(analysis::Store store,
                  open_whole(path, analysis::needs_events(budgets), partial));
    FATHOM_ASSIGN(analysis::RunReadings run, analysis::read_budgets(store, rules, budgets, which));
    side.runs.push_back(std::move(run));
    for (const trace::Loss& loss : analysis::losses_of(store.parts())) side.lost.add_loss(loss);
  }
  return side;
}

// What stands under the table: "mean of 3 repetitions; lost: …".
std::string remark_on(const Side& side, const std::string& lost) {
  std::vector<std::string> parts;
  if (side.runs.size() > 1) parts.push_back("mean of " + counted(side.runs.size(), "repetition"));
  if (!lost.empty()) parts.push_back("lost: " + lost);
  return join(parts, "; ");
}

Status write_files(const Arguments& a, const std::vector<analysis::Outcome>& outcomes,
                   const std::string& lost, const std::string& note) {
  if (!a.junit.empty()) {
    FATHOM_TRY(write_file_atomic(a.junit, analysis::outcome_junit(outcomes, lost)));
  }
  if (a.markdown.empty()) return {};
  return write_file_atomic(a.markdown, render::render(analysis::outcome_table(outcomes, note),
                                                      render::Format::kMarkdown));
}

// What could not be checked comes before what was broken: a budget that nobody checked is no budget
// that was kept.
Result<int> verdict_on(const std::vector<analysis::Outcome>& outcomes) {
  for (const analysis::Outcome& outcome : outcomes) {
    if (outcome.verdict == BudgetVerdict::kUnknown) {
      return Error{
          Code::kInvalid,
          fmt::format("budget '{}' cannot be checked: {}", outcome.budget.name, outcome.detail),
          outcome.detail.starts_with("lost:")
              ? "record without losses, or use --partial to check what was recorded"
              : "use --partial to check what was recorded"};
    }
    if (outcome.verdict != BudgetVerdict::kMissing) continue;
    return Error{
        Code::kNotFound,
        fmt::format("budget '{}' cannot be checked: {}", outcome.budget.name, outcome.detail),
        "add 'optional: true' to skip it in that case"};
  }
  return analysis::count_of(outcomes, BudgetVerdict::kBroken) > 0 ? 1 : 0;
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
  FATHOM_ASSIGN(const Side side,
                read_side(a.trace, budgets, rules, analysis::Which::kAll, a.partial));
  Side baseline;
  if (!a.baseline.empty()) {
    FATHOM_ASSIGN(baseline,
                  read_side(a.baseline, budgets, rules, analysis::Which::kRelative, a.partial));
  }
  FATHOM_ASSIGN(
      const std::vector<analysis::Outcome> outcomes,
      analysis::check_budgets(
          budgets, {.runs = side.runs, .baseline = baseline.runs, .ignores_losses = a.partial}));
  const std::string lost = analysis::losses_text(side.lost.losses);
  const std::string note = remark_on(side, lost);
  const Table table = output.for_people() ? analysis::outcome_table(outcomes, note)
                                          : analysis::outcome_rows(outcomes);
  FATHOM_TRY(print(render::render(table, output.format, output.style)));
  if (!output.for_people() && !note.empty()) remark(note);
  FATHOM_TRY(write_files(a, outcomes, lost, note));
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
