// SPDX-License-Identifier: MIT
// `.pfw` and `.pfw.gz` of DFTracer (1.0, 2.0, 2.2) and DataCrumbs. Memory: a few bytes an event.
#include <optional>
#include <utility>

#include "analysis/import/import.h"
#include "analysis/import/json_head.h"

#include "analysis/import/line_reader.h"
#include "analysis/import/pfw_facts.h"
#include "analysis/import/pfw_line.h"
#include "analysis/import/pfw_rows.h"
#include "base/text.h"
#include "trace/recording/manifest.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kRowsPerAppend = 1 << 16;
constexpr std::int64_t kLinesPerProgress = 1 << 14;

struct FileCounts {
  std::int64_t sound = 0;
  std::int64_t damaged = 0;
  std::int64_t damaged_parts = 0;
  std::int64_t too_long = 0;
};

class PfwImport {
 public:
  PfwImport(std::span<const std::string> files, const ImportOptions& options)
      : files_(files), options_(&options) {}

  // The first pass.
  Status gather() {
    for (const std::string& path : files_) {
      FATHOM_ASSIGN(const FileCounts counts,
                    each_line(path, [&](const PfwLine& line, PfwUnit unit) {
                      return facts_.add(line, unit);
                    }));
      total_.damaged_lines += counts.damaged;
      total_.damaged_parts += counts.damaged_parts;
      total_.leave_out(LineReader::kTooLong, counts.too_long);
      if (counts.sound == 0 && counts.damaged + counts.damaged_parts + counts.too_long > 0)
        return nothing_found(path, total_);
    }
    if (facts_.rows == 0)
      return nothing_found(files_.size() == 1 ? files_[0] : "the files", total_);
    facts_.finish();
    total_.rows = facts_.rows;
    return {};
  }

  // The second.
  Status write(const std::string& directory) {
    FATHOM_ASSIGN(
        trace::RecordingWriter writer,
        trace::RecordingWriter::create(directory, manifest(), {.max_bytes = options_->max_bytes}));
    PfwRows rows(facts_, writer.strings());
    for (const std::string& path : files_) FATHOM_TRY(write_file(path, rows, writer));
    for (trace::ProcessRow& row : rows.processes()) writer.append(std::move(row));
    for (trace::ThreadRow& row : rows.threads()) writer.append(std::move(row));
    total_.unknown_files = rows.unknown_files();
    tell_losses(total_, writer.manifest());
    return writer.finish();
  }

  [[nodiscard]] const ImportOutcome& total() const { return total_; }

 private:
  // Calls `use` with each line that is an object; it says whether the line is sound.
  template <class Use>
  Result<FileCounts> each_line(const std::string& path, Use use) {
    FATHOM_ASSIGN(LineReader reader, LineReader::open(path));
    FileCounts counts;
    PfwUnit unit;
    while (true) {
      FATHOM_ASSIGN(const std::optional<std::string_view> text, reader.next());
      if (!text) break;
      if (++lines_ % kLinesPerProgress == 0 && options_->on_progress) options_->on_progress(lines_);
      const PfwParser::Outcome outcome = parser_.parse(*text, line_);
      if (outcome == PfwParser::Outcome::kNothing) continue;
      unit.learn(line_);
      const bool sound = outcome == PfwParser::Outcome::kLine && use(line_, unit);
      ++(sound ? counts.sound : counts.damaged);
    }
    counts.damaged_parts = reader.damage();
    counts.too_long = reader.too_long();
    return counts;
  }

  Status write_file(const std::string& path, PfwRows& rows, trace::RecordingWriter& writer) {
    PfwBatches batches;
    Status status;
    FATHOM_TRY(each_line(path, [&](const PfwLine& line, PfwUnit unit) {
      rows.add(line, unit, batches);
      if (status.has_value() && batches.events.rows() >= kRowsPerAppend)
        status = append(batches, writer);
      return true;
    }));
    FATHOM_TRY(std::move(status));
    return append(batches, writer);
  }

  static Status append(PfwBatches& batches, trace::RecordingWriter& writer) {
    FATHOM_TRY(writer.append(batches.events));
    FATHOM_TRY(writer.append(batches.counters));
    return writer.append(batches.intervals);
  }

  trace::Manifest manifest() {
    trace::Manifest manifest;
    manifest.origin = "import";
    manifest.host.hostname = facts_.host_name(facts_.main_host);
    manifest.start_realtime_ns = facts_.span.start;
    manifest.duration_ns = facts_.span.end - facts_.span.start;
    for (const auto& [key, process] : facts_.processes) {
      if (process.command.empty()) continue;
      for (const std::string_view word : split(process.command, ' '))
        manifest.command.emplace_back(word);
      break;
    }
    manifest.facts["imported_from"] = join({files_.begin(), files_.end()}, " ");
    return manifest;
  }

  std::span<const std::string> files_;
  const ImportOptions* options_;
  PfwParser parser_;
  PfwLine line_;
  PfwFacts facts_;
  ImportOutcome total_;
  std::int64_t lines_ = 0;
};

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  PfwImport import(files, options);
  FATHOM_TRY(import.gather());
  FATHOM_TRY(import.write(directory));
  return import.total();
}

// Objects on lines of their own. Chrome's array of events has commas between them, which DFTracer
// leaves out; where it does not, its own words tell.
bool matches(std::string_view head) {
  const JsonHead json = json_head(head);
  if (json.names("traceEvents")) return false;
  if (json.names("hhash") || json.names("fhash") || json.names("fname")) return true;
  return json.names("ph") && !json.comma_after_object;
}

}  // namespace

extern const ImporterDef kPfwImporter;
const ImporterDef kPfwImporter = {
    .name = "pfw",
    .summary = "lines of JSON written by DFTracer or DataCrumbs: .pfw, .pfw.gz",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
