// SPDX-License-Identifier: MIT
// Traces of other tools into recordings of ours. To add a format: a file with its ImporterDef, and
// its name twice in import.cc. What each takes: docs/formats/foreign.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/recording/manifest.h"

namespace fathom::analysis {

// What the caller of an import chooses. `on_progress` is called from the thread that imports.
struct ImportOptions {
  bool replace = false;  // an existing recording; anything else that exists is never touched
  // Called now and then with the lines or objects read so far, of all passes over the files.
  std::function<void(std::int64_t lines)> on_progress;
  std::string format = {};      // "": told by the content of the first file
  std::uint64_t max_bytes = 0;  // of the recording; 0: half of the free space
};

// What became of every line: a row, damage, or a reason for which it was left out. Nothing is
// dropped without a count.
struct ImportOutcome {
  std::int64_t rows = 0;  // sound lines that are events, intervals, counters or samples
  std::int64_t damaged_lines = 0;
  std::int64_t damaged_parts = 0;                // gzip members that were cut or broken
  std::int64_t unknown_files = 0;                // rows whose file is a hash that no line explains
  std::map<std::string, std::int64_t> left_out;  // what else found no place, by reason

  void leave_out(std::string_view reason, std::int64_t count) {
    if (count > 0) left_out[std::string(reason)] += count;
  }
};

struct ImporterDef {
  std::string_view name;
  std::string_view summary;  // what it is and who writes it, one line
  // Whether a file that begins so, unpacked, is of this format.
  bool (*matches)(std::string_view head);
  // Merges the files into one recording at `directory`, which does not exist. On failure it still
  // does not.
  Result<ImportOutcome> (*write)(std::span<const std::string> files, const std::string& directory,
                                 const ImportOptions& options);
};

// In the order in which a file is held against them.
[[nodiscard]] std::span<const ImporterDef* const> importers();

// Merges the files, all of one format, into one recording. On failure there is none: kUsage for a
// format that does not exist, kNotFound or kIo for a file that cannot be read, kInvalid for one
// that holds nothing sound.
Result<ImportOutcome> import_files(std::span<const std::string> files, const std::string& directory,
                                   const ImportOptions& options = {});

// For importers: what was left out, as losses of the recording; partial where parts are missing.
void tell_losses(const ImportOutcome& outcome, trace::Manifest& manifest);
// "x.json contains no event of a trace", and what was left out instead.
[[nodiscard]] Error nothing_found(const std::string& path, const ImportOutcome& outcome);

}  // namespace fathom::analysis
