// SPDX-License-Identifier: MIT
// Makes a recording out of rows that come from elsewhere (importers). Nothing appears under the
// name asked for before finish(), and nothing stays behind without it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/recording/manifest.h"
#include "trace/rows/batch.h"
#include "trace/rows/samples.h"
#include "trace/rows/summary.h"

namespace fathom::trace {

// Owns the temporary directory, and removes it unless finish() put it in place.
class RecordingWriter {
 public:
  struct Limits {
    // Files that take more are an Error: a small compressed file may be a whole disk when it is
    // unpacked. 0: half of what is free there.
    std::uint64_t max_bytes = 0;
    std::size_t rows_per_file = 2'000'000;
  };
  // kInvalid if `directory` exists. Rows go to a temporary sibling first.
  static Result<RecordingWriter> create(const std::string& directory, Manifest manifest,
                                        const Limits& limits);
  static Result<RecordingWriter> create(const std::string& directory, Manifest manifest) {
    return create(directory, std::move(manifest), Limits());
  }
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  ~RecordingWriter();

  // The pool of all batches that are appended.
  [[nodiscard]] Strings& strings();
  // The stacks of all samples that are appended.
  [[nodiscard]] StackTable& stacks();
  [[nodiscard]] Manifest& manifest();
  [[nodiscard]] const Manifest& manifest() const;

  // Takes the rows; the batch is empty afterwards. Files are written as enough rows have gathered.
  // After an Error let the writer go: nothing stays behind.
  Status append(EventBatch& events);
  Status append(CounterBatch& counters);
  Status append(IntervalBatch& intervals);
  Status append(SampleBatch& samples);
  void append(ProcessRow process);
  void append(ThreadRow thread);
  // Sums of calls whose events nobody has; those of events come by themselves.
  void append(const SummaryRow& sums);

  // Writes the rest and the manifest (state as set there; kRunning becomes kComplete), and puts the
  // recording in place.
  Status finish();

 private:
  class State;
  explicit RecordingWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::trace
