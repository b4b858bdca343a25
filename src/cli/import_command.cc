// SPDX-License-Identifier: MIT
// `fathom import`: what was damaged or left out is told in one line on stderr; the exit status
// stays 0 as long as a recording was made.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/import.h"
#include "base/plural.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parser.h"
#include "cli/share_option.h"
#include "cli/tell.h"

namespace fathom::cli {
namespace {

// What was not sound, in one line on stderr; nothing where all was.
void tell_damage(const analysis::ImportOutcome& outcome) {
  std::vector<std::string> words;
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) words.push_back(counted(count, what));
  };
  add(outcome.damaged_lines, "damaged line");
  add(outcome.damaged_parts, "damaged part of compressed data");
  add(outcome.unknown_files, "row without a file name");
  for (const auto& [reason, count] : outcome.left_out) add(count, reason);
  if (!words.empty()) remark("imported with " + join(words, ", "));
}

// Each format, what it is and who writes it.
std::vector<std::pair<std::string, std::string>> format_help() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const analysis::ImporterDef* def : analysis::importers())
    rows.emplace_back(def->name, def->summary);
  return rows;
}

Result<int> run(Parser& parser) {
  std::vector<std::string> files;
  std::string output, share;
  analysis::ImportOptions options;
  parser.positionals("FILE", files,
                     "traces of one format, plain or gzip; they become one recording");
  parser.option("-o,--output", output, "TRACE", "recording to create");
  parser.option("--format", options.format, "FORMAT",
                "format of the files, see below [default: detected from the first file]");
  parser.list("Formats", format_help());
  parser.flag("--force", options.replace, "replace an existing recording");
  declare_share(parser, share);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const std::optional<gid_t> group, shared_group(parser, share));
  if (files.empty()) return usage_error("no file was given", "fathom import FILE… -o TRACE");
  if (output.empty()) return usage_error("no output was given", "name the recording with -o TRACE");
  Progress progress;
  options.on_progress = [&](std::int64_t lines) {
    if (progress.due())
      progress.show("importing: " + counted_roughly(static_cast<double>(lines), "line"));
  };
  FATHOM_ASSIGN(const analysis::ImportOutcome outcome,
                analysis::import_files(files, output, options));
  progress.clear();
  if (group) FATHOM_TRY(share_with(output, *group));
  tell_damage(outcome);
  return 0;
}

}  // namespace

extern const CommandDef kImportCommand;
const CommandDef kImportCommand = {
    .name = "import",
    .summary = "Create a recording from traces of other tools",
    .usage = "FILE… -o TRACE [--format FORMAT] [--force]",
    .example =
        "fathom import trace-*.pfw.gz -o run.fathom\n"
        "fathom import rank0.pt.trace.json.gz -o kineto.fathom",
    .run = run,
};

}  // namespace fathom::cli
