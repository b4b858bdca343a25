// SPDX-License-Identifier: MIT
// `fathom import`: what was damaged or left out is told in one line on stderr; the exit status
// stays 0 as long as a recording was made.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/import.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/import_files.h"
#include "cli/parser.h"
#include "cli/question_guard.h"
#include "cli/share_option.h"

namespace fathom::cli {
namespace {

// Each format, what it is and who writes it.
std::vector<std::pair<std::string, std::string>> format_help() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const analysis::ImporterDef* def : analysis::importers())
    rows.emplace_back(def->name, def->summary);
  return rows;
}

Result<int> run(Parser& parser) {
  std::vector<std::string> files;
  std::string output, share, max_size, memory;
  analysis::ImportOptions options;
  parser.positionals(
      "FILE", files,
      "traces of one format, plain or gzip, or a directory of TAU's or Waggle's files; they "
      "become one recording");
  parser.option("-o,--output", output, "TRACE", "recording to create");
  parser.option("--format", options.format, "FORMAT",
                "format of the files, see below (default: detected from the first file)");
  parser.list("Formats", format_help());
  parser.flag("--force", options.replace, "replace an existing recording");
  parser.option("--max-size", max_size, "SIZE",
                "stop if the recording becomes larger than this (default: half of the free space)");
  parser.option("--memory", memory, "SIZE",
                "memory limit (default: half of the machine's), e.g. 2GB");
  declare_share(parser, share);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const std::optional<gid_t> group, shared_group(parser, share));
  if (files.size() == 1) {
    std::vector<std::string> inside = files_of_folder(files.front());
    if (!inside.empty()) files = std::move(inside);
  }
  if (files.empty()) return usage_error("no file was given", "fathom import FILE… -o TRACE");
  if (output.empty()) return usage_error("no output was given", "name the recording with -o TRACE");
  if (parser.given("--max-size")) {
    const Result<std::uint64_t> bytes = parse_bytes(max_size);
    if (!bytes || *bytes == 0)
      return usage_error("--max-size '" + max_size + "' is not a size", "write it as 512M or 4G");
    options.max_bytes = *bytes;
  }
  FATHOM_ASSIGN(QuestionLimits limits, memory_limits(parser, memory));
  limits.work = "the import";
  guard_questions(limits);
  FATHOM_TRY(import_with_words(files, output, options));
  if (group) FATHOM_TRY(share_with(output, *group));
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
