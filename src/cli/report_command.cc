// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/open_trace.h"
#include "cli/parser.h"
#include "cli/report_text.h"
#include "cli/rules.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

struct Arguments {
  std::string trace;
  std::string view;
  std::string format = "table";
  analysis::ViewOptions options;
  std::vector<std::string> rules;
};

std::string view_help() {
  std::string text = "what to show:";
  for (const analysis::ViewDef* view : analysis::views()) {
    text += (text.back() == ':' ? " " : ", ") + std::string(view->name);
  }
  return text + " (overview)";
}

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positional("TRACE", a.trace, "the recording, or a directory of recordings");
  parser.optional_positional("VIEW", a.view, view_help());
  parser.option("--by", a.options.by, "COLUMN,…",
                "group by layer, name, category, file, pid or host, where the view can");
  parser.option("--top", a.options.top, "N", "rows of a table at most; 0: all");
  parser.option("--rules", a.rules, "DIR,…",
                "rules of your own for the overview: every *.sql in there");
  parser.option("--format", a.format, "FORMAT", "table, json, csv or md (table)");
  return parser.parse();
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  FATHOM_ASSIGN(const bool go_on, parse(parser, arguments));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const render::Format format, render::parse_format(arguments.format));
  FATHOM_ASSIGN(const analysis::ViewDef* view,
                analysis::choose_view(arguments.view, arguments.options));
  FATHOM_ASSIGN(const std::vector<analysis::Rule> rules, rules_for(arguments.rules));
  arguments.options.rules = rules;
  FATHOM_ASSIGN(analysis::Store store, open_sums(arguments.trace));
  FATHOM_ASSIGN(const analysis::Report report, view->run(store, arguments.options));
  std::string text = report_text(report, format, render::style_for(STDOUT_FILENO));
  if (format == render::Format::kTable && arguments.view.empty()) {
    text += "\nNext: fathom report " + shell_quote(arguments.trace) + " functions --top 30\n";
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

extern const CommandDef kReportCommand;
const CommandDef kReportCommand = {
    .name = "report",
    .summary = "Explains where the time of a recorded run went",
    .usage = "[OPTION…] TRACE [VIEW]",
    .example =
        "fathom report sort.fathom\nfathom report sort.fathom functions --by file,name --top 20",
    .run = run,
};

}  // namespace fathom::cli
