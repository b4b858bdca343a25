// SPDX-License-Identifier: MIT
// An import as commands do it: progress on a terminal, and one line on stderr about what was
// damaged or left out.
#pragma once

#include <string>
#include <vector>

#include "analysis/import/import.h"
#include "base/result.h"

namespace fathom::cli {

// The files of a directory that TAU or Waggle's profiler wrote, in order; nothing where it is none.
[[nodiscard]] std::vector<std::string> files_of_folder(const std::string& folder);

// As analysis::import_files; on_progress of the options is ours.
Status import_with_words(const std::vector<std::string>& files, const std::string& directory,
                         analysis::ImportOptions options);

}  // namespace fathom::cli
