// SPDX-License-Identifier: MIT
// `fathom stat`: the session runs and measures, analysis compares, and what is said comes after the
// program's own words.
#include <unistd.h>

#include <string>

#include "base/files.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/stat_options.h"
#include "cli/stat_text.h"
#include "cli/tell.h"
#include "render/json_writer.h"
#include "render/report_text.h"

namespace fathom::cli {
namespace {

Result<session::StatOutcome> measure(StatRequest& request) {
  if (request.process != 0) return session::stat_process(request.process, request.options.events);
  if (request.until) {
    request.options.enough = [&request](const std::vector<std::vector<session::Measured>>& runs) {
      // Asked after every round: fewer draws are exact enough to stop by.
      analysis::TrialOptions rough = request.trials;
      rough.resamples = 1000;
      const std::optional<double> width = analysis::half_width(trials_of(runs), rough);
      return width && *width <= *request.until;
    };
  }
  return session::stat(request.options);
}

StatResult result_of(const StatRequest& request, session::StatOutcome outcome) {
  StatResult result{.commands = request.options.commands,
                    .labels = request.labels,
                    .outcome = std::move(outcome),
                    .trials = {},
                    .comparison = {},
                    .noise_floor = {},
                    .seed = request.options.seed,
                    .asked = request.options.needs_events};
  if (request.process != 0) result.commands = {{}};
  result.trials = trials_of(result.outcome.runs);
  result.comparison = analysis::compare_trials(result.trials, request.trials);
  const analysis::Series* const one = analysis::find_series(result.trials[0], analysis::kWall);
  const analysis::Series* const two =
      request.noise ? analysis::find_series(result.trials[1], analysis::kWall) : nullptr;
  if (one != nullptr && two != nullptr)
    result.noise_floor = analysis::noise_floor(*one, *two, request.trials);
  return result;
}

std::string text_of(const StatResult& result, const Output& output, const render::Style& style) {
  if (output.format != render::Format::kJson)
    return render::report_text(stat_report(result, output.for_people()), output.format, style);
  std::string text;
  render::JsonWriter(text).value(stat_object(result));
  return text + "\n";
}

// For people beside the program's output, for programs behind it.
Status show(const StatRequest& request, const StatResult& result, const Output& output) {
  if (!request.output.empty())
    return write_file_atomic(request.output, text_of(result, output, output.style));
  if (output.format != render::Format::kTable) return print(text_of(result, output, output.style));
  print_beside(text_of(result, output, render::style_for(STDERR_FILENO)));
  return {};
}

bool any_slower(const StatResult& result) {
  for (const analysis::TrialComparison& one : result.comparison) {
    if (one.metric == analysis::kWall && one.verdict == analysis::Verdict::kSlower) return true;
  }
  return false;
}

Result<int> run(Parser& parser) {
  StatRequest request;
  FATHOM_ASSIGN(const bool go_on, read_stat_request(parser, request));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(request.format));
  FATHOM_ASSIGN(session::StatOutcome outcome, measure(request));
  if (outcome.not_started) tell(*outcome.not_started);
  const bool any = !outcome.runs[0].empty();
  const StatResult result = result_of(request, std::move(outcome));
  if (any) FATHOM_TRY(show(request, result, output));
  if (result.outcome.exit_status != 0) return result.outcome.exit_status;
  return request.fail_if_slower && any_slower(result) ? 1 : 0;
}

}  // namespace

extern const CommandDef kStatCommand;
const CommandDef kStatCommand = {
    .name = "stat",
    .summary = "Count events of a program exactly, repeat it, and compare commands",
    .usage = "[OPTION…] [--] COMMAND [ARGUMENT…]",
    .example =
        "fathom stat -- ./simulate input.dat\n"
        "fathom stat -r 20 --warmup 2 -e task-clock,page-faults -- sort big.txt\n"
        "fathom stat --cmd './old in' --cmd './new in' --until 1% --budget 2m --fail-if slower",
    .run = run,
};

}  // namespace fathom::cli
