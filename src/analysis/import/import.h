// SPDX-License-Identifier: MIT
// Traces of other tools into recordings of ours. So far `.pfw` and `.pfw.gz` of DFTracer
// (1.0, 2.0, 2.2) and DataCrumbs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::analysis {

struct ImportOptions {
  bool replace = false;  // an existing recording; anything else that exists is never touched
  // Called now and then with the lines read so far, of both passes over the files.
  std::function<void(std::int64_t lines)> on_progress;
};

struct ImportOutcome {
  std::int64_t rows = 0;  // sound lines that are events, intervals or counters
  std::int64_t damaged_lines = 0;
  std::int64_t damaged_parts = 0;  // gzip members that were cut or broken
  std::int64_t unknown_files = 0;  // rows whose file is a hash that no line explains
};

// Merges the files into one recording at `directory`. On failure there is none: kNotFound or kIo
// for a file that cannot be read, kInvalid for one that holds no sound line, or when no file holds
// an event. Memory: a few bytes an event.
Result<ImportOutcome> import_pfw(std::span<const std::string> files, const std::string& directory,
                                 const ImportOptions& options = {});

}  // namespace fathom::analysis
