// SPDX-License-Identifier: MIT
// Imported traces lie in a temporary directory of this process. It is removed when the process
// ends, also by a signal (base/scratch.h).
#include "cli/named_trace.h"

#include <malloc.h>
#include <sys/stat.h>

#include <map>
#include <vector>

#include "base/files.h"
#include "base/ids.h"
#include "base/scratch.h"
#include "cli/far_trace.h"
#include "cli/import_files.h"
#include "cli/question_guard.h"
#include "trace/recording/newest.h"

namespace fathom::cli {
namespace {

bool is_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

// One import for a file, however often it is named.
Result<std::string> import_for_now(const std::string& file) {
  static std::map<std::string, ScratchDirectory, std::less<>> made;
  if (const auto found = made.find(file); found != made.end())
    return join_path(found->second.path(), base_name(file));
  guard_questions();  // who is stopped by a signal from now on removes the directory
  FATHOM_ASSIGN(ScratchDirectory room, ScratchDirectory::make(join_path(
                                           scratch_directory(), "fathom-import-" + random_id())));
  const std::string recording = join_path(room.path(), base_name(file));
  std::vector<std::string> files = files_of_folder(file);
  if (files.empty()) files.push_back(file);
  FATHOM_TRY(import_with_words(files, recording, {}));
  ::malloc_trim(0);  // what the import needed is no memory of the questions
  made.emplace(file, std::move(room));
  return recording;
}

}  // namespace

Result<std::string> find_trace(const std::string& word) {
  if (word == trace::kNewestWord) return trace::newest_recording();
  if (is_far_trace(word)) return open_far_trace(word);
  return is_file(word) || !files_of_folder(word).empty() ? import_for_now(word) : word;
}

}  // namespace fathom::cli
