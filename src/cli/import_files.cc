// SPDX-License-Identifier: MIT
#include "cli/import_files.h"

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
