// SPDX-License-Identifier: MIT
// `fathom diff`: recordings are read one after the other into sums, so that comparing many
// repetitions needs the memory of one.
#include <string>
#include <vector>

#include "analysis/compare/repetitions.h"
#include "analysis/compare/sides.h"
#include "cli/command.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "render/render.h"
#include "render/report_text.h"

namespace fathom::cli {
namespace {

struct Arguments {
  std::string first, second;
  std::vector<std::string> before, after;
  double threshold = 0;
  OutputOptions output;
  analysis::CompareOptions options;
};

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.optional_positional("A", a.first,
                             "a recording, or a directory of them: recordings that overlap in time "
                             "are hosts or ranks of one run, others are repetitions");
  parser.optional_positional("B", a.second, "the recording to compare with A");
  parser.option("--before", a.before, "A,…", "repeated recordings, or directories of them");
  parser.option("--after", a.after, "B,…", "repeated recordings, or directories of them");
  parser.option(
      "--by", a.options.by, "COLUMN,…",
      "compare by layer, name, file, counter, pid, category or (sampled) function (default: "
      "function,layer,name,file,counter)");
  parser.option("--top", a.options.top, "N",
                "show at most N rows per table, 0 for all (default: 15)");
  parser.option("--min", a.options.min_percent, "PERCENT", "hide rows that changed by less");
  parser.option(
      "--threshold", a.threshold, "PERCENT",
      "smallest change in wall time that counts (default: 5; with at least 4 runs of each "
      "0, and a rank test decides)");
  declare_output(parser, a.output);
  return parser.parse();
}

Status set_sides(const Parser& parser, Arguments& a) {
  if (parser.given("--threshold")) a.options.threshold = a.threshold;
  if (a.threshold < 0 || a.options.min_percent < 0) {
    return usage_error("--threshold and --min must not be negative");
  }
  const bool sets = !a.before.empty() || !a.after.empty();
  const bool pair = !a.second.empty();
  if (sets && (!a.first.empty() || a.before.empty() || a.after.empty())) {
    return usage_error("--before and --after must be used together, without A and B",
                       "fathom diff --before A1,A2 --after B1,B2");
  }
  if (!sets && !pair) {
    return usage_error("two recordings are needed",
                       "fathom diff A B, or fathom diff --before A1,A2 --after B1,B2");
  }
  if (pair) {
    a.before = {a.first};
    a.after = {a.second};
  }
  return analysis::check_options(a.options);
}

// One recording is open at a time: its numbers stay.
Result<analysis::ComparedSide> read_side(const std::vector<std::string>& paths) {
  analysis::ComparedSide side;
  for (const std::string& path : paths) {
    FATHOM_ASSIGN(const std::string trace, find_trace(path));
    for (const std::string& run : analysis::runs_in(trace)) {
      FATHOM_ASSIGN(analysis::Store store, open_sums(run));
      FATHOM_TRY(analysis::add_run(side, store, run));
    }
  }
  return side;
}

Result<int> run(Parser& parser) {
  Arguments a;
  FATHOM_ASSIGN(const bool go_on, parse(parser, a));
  if (!go_on) return 0;
  FATHOM_TRY(set_sides(parser, a));
  FATHOM_ASSIGN(const Output output, output_of(a.output));
  a.options.for_people = output.for_people();
  FATHOM_ASSIGN(const analysis::ComparedSide before, read_side(a.before));
  FATHOM_ASSIGN(const analysis::ComparedSide after, read_side(a.after));
  const analysis::SidesReport compared = analysis::compare_sides(before, after, a.options);
  FATHOM_TRY(print(render::report_text(compared.report, output.format, output.style)));
  return compared.wall_changed ? 1 : 0;
}

}  // namespace

extern const CommandDef kDiffCommand;
const CommandDef kDiffCommand = {
    .name = "diff",
    .summary = "Compare two recordings, or two sets of repeated runs, and explain the change",
    .usage = "[OPTION…] A B",
    .example =
        "fathom diff old.fathom new.fathom\n"
        "fathom diff --before old1.fathom,old2.fathom --after new1.fathom,new2.fathom\n"
        "fathom diff old/ new/ --by file --top 30",
    .run = run,
};

}  // namespace fathom::cli
