// SPDX-License-Identifier: MIT
// What importers of sampled stacks share: rows of samples and frames on their way into a recording,
// and processes and threads as the samples show them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/import.h"
#include "analysis/import/import_lines.h"
#include "base/result.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {

// Texts are valid during the call.
struct ImportedFrame {
  std::string_view function, module, file;
  std::int32_t line = trace::kNull32;
};
struct ImportedSample {
  std::int64_t ts = 0;
  std::int32_t pid = trace::kNull32;
  std::int32_t tid = trace::kNull32;
  std::int32_t cpu = trace::kNull32;
  std::string_view event;
  std::string_view comm;  // the thread's name; the process's too where it is its main thread
  std::int64_t weight = 1;
  std::span<const ImportedFrame> frames;  // outermost first
};

// A recording that is being made of samples. Until finish() it is a folder beside its place; where
// something fails before, the writer removes it. One thread at a time.
class SampleImport {
 public:
  static Result<SampleImport> create(std::span<const std::string> files,
                                     const std::string& directory, const ImportOptions& options);
  // `sample.ts` counts from anywhere: the first becomes 0 at finish().
  Status add(const ImportedSample& sample);
  // All lines of the files through `consumer`, which adds samples; then the recording is put in
  // place, with what was lost. An error where no sample was found.
  Result<ImportOutcome> read(std::span<const std::string> files, const ImportOptions& options,
                             const LineConsumer& consumer);

 private:
  struct Life {
    std::string name;
    std::int64_t start = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
  };

  explicit SampleImport(trace::RecordingWriter writer) : writer_(std::move(writer)) {}
  void note(const ImportedSample& sample);
  Status finish(const ImportOutcome& outcome);

  trace::RecordingWriter writer_;
  trace::SampleBatch samples_;
  std::int64_t rows_ = 0;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  std::map<std::int32_t, Life> processes_;
  std::map<std::pair<std::int32_t, std::int32_t>, Life> threads_;
};

}  // namespace fathom::analysis
