// SPDX-License-Identifier: MIT
// `fathom symbolize`: names for functions that had none when they were recorded. The only command
// that changes frames of a recording, and only those without a name.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/far_trace.h"
#include "cli/named_trace.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "sources/function_names.h"
#include "trace/recording/recording.h"
#include "trace/recording/symbolize.h"

namespace fathom::cli {
namespace {

Status check_folders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    if (!is_directory(folder)) return usage_error(folder + " is not a directory", "");
  }
  return {};
}

std::string outcome_text(const trace::Symbolized& told) {
  std::string text =
      fmt::format("{} named, {} without a name\n", counted(told.named, "frame"), told.unnamed);
  if (told.missing.empty()) return text;
  std::vector<std::pair<std::int64_t, std::pair<std::string, std::string>>> modules;
  for (const auto& [module, count] : told.missing) modules.emplace_back(-count, module);
  std::ranges::sort(modules);
  text += "modules that lack symbols (frames, build id, module):\n";
  for (const auto& [count, module] : modules)
    text += fmt::format("{:>8}  {}  {}\n", -count, module.second.empty() ? "-" : module.second,
                        escape_control(module.first));
  return text;
}

Result<int> run(Parser& parser) {
  std::string word;
  std::vector<std::string> folders;
  bool quiet = false;
  parser.positional("TRACE", word, "a recording, a directory of recordings, or 'last'");
  parser.repeated("--debug", folders, "DIR",
                  "look for symbols in DIR: DIR/.build-id/ab/cdef….debug, or a file with the "
                  "module's name; may be given several times");
  parser.flag("-q,--quiet", quiet, "do not print the result");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_TRY(check_folders(folders));
  if (is_far_trace(word))
    return Error{Code::kUnsupported, "a recording on a server cannot be changed",
                 "symbolize it where it was recorded, and add it under another name"};
  FATHOM_ASSIGN(const std::string path, find_trace(word));
  const std::vector<std::string> recordings = trace::find_recordings(path);
  if (recordings.empty()) return Error{Code::kNotFound, path + " is not a recording", ""};
  const trace::NameResolver resolver = sources::names_by_build_id(folders);
  trace::Symbolized all;
  for (const std::string& recording : recordings) {
    FATHOM_ASSIGN(const trace::Symbolized one, trace::symbolize(recording, resolver));
    all.add(one);
  }
  if (!quiet) FATHOM_TRY(print(outcome_text(all)));
  return 0;
}

}  // namespace

extern const CommandDef kSymbolizeCommand;
const CommandDef kSymbolizeCommand = {
    .name = "symbolize",
    .summary = "Add function names from symbols that were missing when recording",
    .usage = "[OPTION…] TRACE",
    .example =
        "fathom symbolize server.fathom --debug ~/symbols\n"
        "fathom symbolize last --debug build/ --debug /mnt/debug",
    .run = run,
};

}  // namespace fathom::cli
