// SPDX-License-Identifier: MIT
// Logs of Darshan as text: those that are text already, and those of Darshan's own bytes, which its
// parsers turn into text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/import/darshan_line.h"
#include "base/files.h"
#include "base/result.h"
#include "trace/recording/manifest.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {

// Owns the texts that it had made: they are files without names, gone with this.
class DarshanTexts {
 public:
  // Runs `parser` ("darshan-parser") on the files that are no text, and waits for it. kUnsupported
  // where it is not installed.
  static Result<DarshanTexts> open(std::span<const std::string> files, const std::string& parser);
  // Valid as long as this object.
  [[nodiscard]] std::span<const std::string> paths() const { return paths_; }

 private:
  std::vector<std::string> paths_;
  std::vector<Fd> made_;  // nameless files
};

// What the jobs say of the run that they were, or of all of them together: the earliest is the
// start.
[[nodiscard]] trace::Manifest darshan_manifest(std::span<const DarshanJob> jobs,
                                               std::span<const std::string> files);
// A row for each rank of a job.
void append_darshan_ranks(const DarshanJob& job, std::int32_t first_pid, std::int64_t shift_ns,
                          trace::RecordingWriter& writer);

}  // namespace fathom::analysis
