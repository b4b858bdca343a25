// SPDX-License-Identifier: MIT
// The lines of files one after the other, for importers that read them once.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/import/import.h"
#include "base/result.h"

namespace fathom::analysis {

// What an importer does with its lines. An error ends the import; a line that is none of the format
// is counted as damaged, and the next one comes.
struct LineConsumer {
  // False: the line is none of the format. Empty lines come too.
  std::function<Result<bool>(std::string_view line)> line;
  // Once behind the last line of each file; may be empty.
  std::function<Status()> file_ends = {};
};

// Hands every line to `consumer`; counts damaged lines and parts in `outcome`.
Status import_lines(std::span<const std::string> files, const ImportOptions& options,
                    const LineConsumer& consumer, ImportOutcome& outcome);

}  // namespace fathom::analysis
