// SPDX-License-Identifier: MIT
// Runs an import with a line of progress and tells what was damaged. It also finds the files of a
// folder that belong together (Waggle's CSV files, or TAU's profiles).
#include "cli/import_files.h"

#include <algorithm>

#include "analysis/import/tau_lines.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/progress.h"
#include "base/text.h"
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

}  // namespace

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> files;
  const Result<std::vector<std::string>> names = list_dir(folder);
  if (!names || path_exists(join_path(folder, "manifest.json"))) return files;
  for (const std::string& name : *names) {
    const bool is_waggles = name == "ftimes.csv" || name == "ltimes.csv" || name == "stats.csv";
    if (is_waggles) files.push_back(join_path(folder, name));
  }
  // Waggle's folders have a profile of TAU, too, which is of its own wrapper.
  for (const std::string& name : files.empty() ? *names : std::vector<std::string>()) {
    if (analysis::parse_tau_file_name(name)) files.push_back(join_path(folder, name));
  }
  std::ranges::sort(files);
  return files;
}

Status import_with_words(const std::vector<std::string>& files, const std::string& directory,
                         analysis::ImportOptions options) {
  Progress progress;
  options.on_progress = [&](std::int64_t lines) {
    if (progress.due())
      progress.show("importing: " + counted_roughly(static_cast<double>(lines), "line"));
  };
  FATHOM_ASSIGN(const analysis::ImportOutcome outcome,
                analysis::import_files(files, directory, options));
  progress.clear();
  tell_damage(outcome);
  return {};
}

}  // namespace fathom::cli
