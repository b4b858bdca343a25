// SPDX-License-Identifier: MIT
// Lives of processes and threads are those of their first and last samples, since sampled formats
// know nothing better.
#include "analysis/import/sample_import.h"

#include <algorithm>

#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kRowsPerAppend = 1 << 16;

template <class Life>
void touch(Life& life, std::int64_t ts) {
  life.start = std::min(life.start, ts);
  life.end = std::max(life.end, ts);
}

}  // namespace

Result<SampleImport> SampleImport::create(std::span<const std::string> files,
                                          const std::string& directory,
                                          const ImportOptions& options) {
  trace::Manifest manifest;
  manifest.origin = "import";
  manifest.facts["imported_from"] = join({files.begin(), files.end()}, " ");
  FATHOM_ASSIGN(trace::RecordingWriter writer,
                trace::RecordingWriter::create(directory, std::move(manifest),
                                               {.max_bytes = options.max_bytes}));
  return SampleImport(std::move(writer));
}

void SampleImport::note(const ImportedSample& sample) {
  if (sample.pid == trace::kNull32) return;
  Life& process = processes_[sample.pid];
  touch(process, sample.ts);
  if (process.name.empty() || sample.pid == sample.tid) process.name = sample.comm;
  if (sample.tid == trace::kNull32) return;
  Life& thread = threads_[{sample.pid, sample.tid}];
  touch(thread, sample.ts);
  thread.name = sample.comm;
}

Status SampleImport::add(const ImportedSample& sample) {
  // Times are moved to the first sample; files are in order of time as a rule, and where they are
  // not, a sample before the first one has a negative time.
  if (rows_++ == 0) first_ = last_ = sample.ts;
  last_ = std::max(last_, sample.ts);
  note(sample);
  trace::Strings& strings = writer_.strings();
  std::vector<trace::Frame> frames;
  for (const ImportedFrame& frame : sample.frames) {
    frames.push_back({strings.code_or_null(frame.function), strings.code_or_null(frame.module),
                      strings.code_or_null(frame.file), frame.line});
  }
  trace::SampleRow row;
  row.ts = sample.ts - first_;
  row.pid = sample.pid;
  row.tid = sample.tid;
  row.cpu = sample.cpu;
  row.event = strings.code_or_null(sample.event);
  row.weight = sample.weight;
  row.stack = writer_.stacks().stack(frames, strings);
  samples_.rows.push_back(row);
  return samples_.rows.size() >= kRowsPerAppend ? writer_.append(samples_) : Status();
}

Result<ImportOutcome> SampleImport::read(std::span<const std::string> files,
                                         const ImportOptions& options,
                                         const LineConsumer& consumer) {
  ImportOutcome outcome;
  FATHOM_TRY(import_lines(files, options, consumer, outcome));
  if (rows_ == 0) return nothing_found(files.front(), outcome);
  outcome.rows = rows_;
  FATHOM_TRY(finish(outcome));
  return outcome;
}

Status SampleImport::finish(const ImportOutcome& outcome) {
  FATHOM_TRY(writer_.append(samples_));
  for (const auto& [pid, life] : processes_) {
    trace::ProcessRow row;
    row.pid = pid;
    row.name = life.name;
    row.start = life.start - first_;
    row.end = life.end - first_;
    writer_.append(std::move(row));
  }
  for (const auto& [ids, life] : threads_) {
    trace::ThreadRow row;
    row.pid = ids.first;
    row.tid = ids.second;
    row.name = life.name;
    row.start = life.start - first_;
    row.end = life.end - first_;
    writer_.append(std::move(row));
  }
  writer_.manifest().duration_ns = last_ - first_;
  tell_losses(outcome, writer_.manifest());
  return writer_.finish();
}

}  // namespace fathom::analysis
