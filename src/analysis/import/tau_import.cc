// SPDX-License-Identifier: MIT
// Profiles of TAU, a file for each thread. TAU sums while the program runs, so there are no events:
// `intervals` has a row for each function and thread, over its whole life, and `summary` has its
// own time. Rows of call paths tell the same times once more and are passed over.
#include <algorithm>
#include <map>
#include <string>

#include "analysis/import/import.h"
#include "analysis/import/import_lines.h"
#include "analysis/import/tau_lines.h"
#include "base/files.h"
#include "base/text.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

class TauImport {
 public:
  TauImport(trace::RecordingWriter writer, std::span<const std::string> files)
      : writer_(std::move(writer)), files_(files) {
    begin_file();
  }

  Result<ImportOutcome> read(const ImportOptions& options) {
    FATHOM_TRY(import_lines(files_, options,
                            {.line = [&](std::string_view line) { return take(line); },
                             .file_ends = [&] { return end_file(); }},
                            total_));
    if (total_.rows == 0) return nothing_found(files_.front(), total_);
    FATHOM_TRY(writer_.append(intervals_));
    append_lives();
    tell_losses(total_, writer_.manifest());
    FATHOM_TRY(writer_.finish());
    return total_;
  }

 private:
  // profile.NODE.CONTEXT.THREAD; a file of another name stands for a node of its own.
  void begin_file() {
    rows_left_ = -1;
    life_ = 0;
    if (file_ >= files_.size()) return;
    const auto place = parse_tau_file_name(base_name(files_[file_]));
    place_ = place.value_or(TauPlace{static_cast<std::int32_t>(file_), 0});
  }

  Status end_file() {
    const std::int32_t tid = thread_number();
    std::int64_t& life = lives_[place_.node];
    life = std::max(life, life_);
    threads_[{place_.node, tid}] = life_;
    ++file_;
    begin_file();
    return {};
  }

  [[nodiscard]] std::int32_t thread_number() const { return place_.node + place_.thread; }

  void append_lives() {
    std::int64_t longest = 0;
    for (const auto& [node, life] : lives_) {
      trace::ProcessRow process;
      process.pid = node;
      process.name = "TAU node " + std::to_string(node);
      process.start = 0;
      process.end = life;
      longest = std::max(longest, life);
      writer_.append(std::move(process));
    }
    for (const auto& [place, life] : threads_) {
      trace::ThreadRow thread;
      thread.pid = place.first;
      thread.tid = place.second;
      thread.start = 0;
      thread.end = life;
      writer_.append(std::move(thread));
    }
    writer_.manifest().duration_ns = longest;
  }

  // The head, a comment, the rows; what follows (aggregates, user events) has no place here.
  Result<bool> take(std::string_view line) {
    if (rows_left_ < 0) {
      const auto count = parse_tau_head(line);
      if (count) rows_left_ = *count;
      return count.has_value() || trim(line).empty();
    }
    if (line.starts_with('#') || trim(line).empty() || rows_left_ == 0) return true;
    --rows_left_;
    const auto row = parse_tau_function(line);
    if (!row) return false;
    life_ = std::max(life_, row->total_ns);
    if (!row->is_path && !row->is_root) add(*row);
    return true;
  }

  void add(const TauFunction& row) {
    trace::Strings& strings = writer_.strings();
    trace::IntervalRow interval;
    interval.width = life_;
    interval.pid = place_.node;
    interval.tid = thread_number();
    const std::uint32_t layer = strings.code(row.layer);
    interval.layer = layer;
    interval.name = strings.code(row.name);
    interval.file = row.file.empty() ? trace::kNoString : strings.code(row.file);
    interval.calls = row.calls;
    interval.dur = row.total_ns;
    intervals_.rows.push_back(std::move(interval));
    trace::SummaryRow sums;
    sums.key.pid = place_.node;
    sums.key.layer = layer;
    sums.key.name = strings.code(row.name);
    sums.calls = row.calls;
    sums.dur = row.total_ns;
    sums.self = row.self_ns;
    sums.last = life_;
    writer_.append(sums);
    ++total_.rows;
  }

  trace::RecordingWriter writer_;
  std::span<const std::string> files_;
  std::size_t file_ = 0;
  TauPlace place_;
  std::int64_t rows_left_ = -1;  // -1: the head is awaited
  std::int64_t life_ = 0;        // of the thread
  trace::IntervalBatch intervals_;
  std::map<std::int32_t, std::int64_t> lives_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> threads_;
  ImportOutcome total_;
};

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  trace::Manifest manifest;
  manifest.origin = "import";
  manifest.facts["imported_from"] = join({files.begin(), files.end()}, " ");
  FATHOM_ASSIGN(trace::RecordingWriter writer,
                trace::RecordingWriter::create(directory, std::move(manifest),
                                               {.max_bytes = options.max_bytes}));
  return TauImport(std::move(writer), files).read(options);
}

bool matches(std::string_view head) {
  return parse_tau_head(head.substr(0, head.find('\n'))).has_value();
}

}  // namespace

extern const ImporterDef kTauImporter;
const ImporterDef kTauImporter = {
    .name = "tau",
    .summary = "profiles of TAU, profile.NODE.CONTEXT.THREAD, or a directory of them",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
