// SPDX-License-Identifier: MIT
// `fathom report`: opens sums where they are enough for the view, events where they are not or
// where a filter is given. Of repetitions it shows one, and says so first.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/repetitions.h"
#include "analysis/filtered_views.h"
#include "analysis/losses.h"
#include "analysis/report.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/filter_options.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/question_guard.h"
#include "cli/tell.h"
#include "render/insight_text.h"
#include "render/render.h"
#include "render/report_text.h"

namespace fathom::cli {
namespace {

struct Arguments {
  std::string trace;
  std::string view;
  OutputOptions output;
  analysis::ViewOptions options;
  std::vector<std::string> rules;
  FilterOptions filters;
  std::string memory;
};

// Each view, what it shows, and what it can be grouped by.
std::vector<std::pair<std::string, std::string>> view_help() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const analysis::ViewDef* view : analysis::views()) {
    const std::vector<std::string> by(view->by.begin(), view->by.end());
    const std::string groups = by.empty() ? "" : "; --by " + join(by, ", ");
    rows.emplace_back(view->name, std::string(view->help) + groups);
  }
  return rows;
}

// Sums are enough for most views, and take less to decode where nothing is packed yet.
Result<analysis::Store> open_for(const std::string& path, const Arguments& arguments,
                                 const analysis::ViewDef& view, const analysis::RowFilter& filter) {
  const bool sums = !view.of_events || (view.plain_of_sums && arguments.options.by.empty());
  return sums && !filter.any() ? open_sums(path) : open_store(path);
}

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positional("TRACE", a.trace, kTraceHelp);
  parser.optional_positional("VIEW", a.view, "what to show, see below (default: overview)");
  parser.list("Views", view_help());
  parser.option("--by", a.options.by, "COLUMN,…",
                "group by these columns; each view below lists its own");
  parser.option("--top", a.options.top, "N", "show at most N rows per table, 0 for all");
  parser.option("--depth", a.options.depth, "N",
                "tree: show N levels; directories: show those at level N");
  parser.option("--call", a.options.call, "NAME",
                "explain: the call to explain (default: the call of a library or the kernel that "
                "took longest)");
  parser.option("--file", a.options.file, "PATH", "explain: only calls on this file");
  declare_filters(parser, a.filters);
  parser.option("--memory", a.memory, "SIZE",
                "memory limit for queries (default: half of the machine's), e.g. 2GB; larger sorts "
                "go to $TMPDIR or /var/tmp");
  parser.option("--rules", a.rules, "DIR,…",
                "directories with your own rules (*.sql) for the overview");
  declare_output(parser, a.output);
  return parser.parse();
}

// A program that only computes has none: its functions were sampled.
bool only_sampled(const analysis::Report& report) {
  const auto has = [&](std::string_view id) {
    return std::ranges::find(report.sections, id, &analysis::Section::id) != report.sections.end();
  };
  return has(analysis::kTimeSection) && !has(analysis::kFunctionsSection);
}

// `report functions sort.fathom` means the same. (No word at all is a view, too.)
void put_in_order(Arguments& arguments) {
  const auto is_view = [](const std::string& word) {
    return analysis::choose_view(word, {}).has_value();
  };
  if (is_view(arguments.trace) && !is_view(arguments.view))
    std::swap(arguments.trace, arguments.view);
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  FATHOM_ASSIGN(const bool go_on, parse(parser, arguments));
  if (!go_on) return 0;
  put_in_order(arguments);
  FATHOM_ASSIGN(const Output output, output_of(arguments.output));
  FATHOM_ASSIGN(const QuestionLimits limits, memory_limits(parser, arguments.memory));
  guard_questions(limits);
  FATHOM_ASSIGN(const analysis::ViewDef* view,
                analysis::choose_view(arguments.view, arguments.options));
  FATHOM_ASSIGN(analysis::RowFilter filter, filter_of(parser, arguments.filters));
  FATHOM_ASSIGN(const std::vector<analysis::Rule> rules, analysis::rules_for(arguments.rules));
  arguments.options.rules = rules;
  FATHOM_ASSIGN(const std::string trace, find_trace(arguments.trace));
  const std::optional<analysis::Repetitions> repeated = analysis::repetitions_in(trace);
  FATHOM_ASSIGN(analysis::Store store,
                open_for(repeated ? repeated->shown : trace, arguments, *view, filter));
  FATHOM_ASSIGN(analysis::Report report,
                analysis::report_part(store, *view, arguments.options, filter));
  if (repeated) report.words.insert(report.words.begin(), repeated->words);
  std::string text = render::report_text(report, output.format, output.style);
  const std::string lost = analysis::loss_remark(store.parts(), view->name);
  if (output.for_people() && !lost.empty())
    text = render::sentence_text(lost, output.format) + "\n\n" + text;
  if (output.format == render::Format::kTable && arguments.view.empty()) {
    text += "\nNext: fathom report " + escape_control(shell_quote(arguments.trace)) +
            (only_sampled(report) ? " hot" : " functions") + " --top 30\n";
  }
  FATHOM_TRY(print(text));
  if (!output.for_people() && !lost.empty()) remark(lost);
  return 0;
}

}  // namespace

extern const CommandDef kReportCommand;
const CommandDef kReportCommand = {
    .name = "report",
    .summary = "Show where the time of a recorded run went",
    .usage = "[OPTION…] TRACE [VIEW]",
    .example =
        "fathom report sort.fathom\nfathom report sort.fathom functions --by file,name --top 20\n"
        "fathom report sort.fathom overlap --by pid --from 1.5 --to 2 --where \"name <> 'fsync'\"",
    .run = run,
};

}  // namespace fathom::cli
