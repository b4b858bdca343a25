// SPDX-License-Identifier: MIT
// Darshan's counters: the text of darshan-parser, or a log that it reads. Darshan sums while the
// program runs, so there are no events: the sums stand where those of events would.
#include <algorithm>

#include "analysis/import/darshan_log.h"
#include "analysis/import/darshan_records.h"
#include "analysis/import/import.h"
#include "analysis/import/import_lines.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

struct Log {
  DarshanJob job;
  DarshanRecords records;
};

class DarshanImport {
 public:
  DarshanImport(std::span<const std::string> files, const ImportOptions& options)
      : files_(files), options_(options) {}

  Status read(std::span<const std::string> texts) {
    return import_lines(texts, options_,
                        {.line = [&](std::string_view line) { return take(line); },
                         .file_ends = [&]() -> Status {
                           logs_.push_back(std::exchange(log_, {}));
                           return {};
                         }},
                        total_);
  }

  Status write(const std::string& directory) {
    std::vector<DarshanJob> jobs;
    for (const Log& log : logs_) jobs.push_back(log.job);
    FATHOM_ASSIGN(trace::RecordingWriter writer,
                  trace::RecordingWriter::create(directory, darshan_manifest(jobs, files_),
                                                 {.max_bytes = options_.max_bytes}));
    std::int32_t first_pid = 0;
    for (Log& log : logs_) {
      const std::int64_t shift = log.job.start_ns - writer.manifest().start_realtime_ns;
      FATHOM_ASSIGN(const std::int64_t rows,
                    log.records.write({first_pid, shift, shift + log.job.run_ns}, writer));
      total_.rows += rows;
      log.job.processes = std::max(log.job.processes, log.records.last_rank() + 1);
      append_darshan_ranks(log.job, first_pid, shift, writer);
      first_pid += log.job.ranks();
    }
    if (total_.rows == 0) return nothing_found(files_.front(), total_);
    tell_losses(total_, writer.manifest());
    return writer.finish();
  }

  [[nodiscard]] const ImportOutcome& outcome() const { return total_; }

 private:
  Result<bool> take(std::string_view line) {
    if (line.starts_with('#')) {
      log_.job.learn(line);
      return true;
    }
    if (trim(line).empty()) return true;
    const std::optional<DarshanCounter> counter = parse_darshan_counter(line);
    return counter && log_.records.add(*counter);
  }

  std::span<const std::string> files_;
  const ImportOptions& options_;
  Log log_;
  std::vector<Log> logs_;
  ImportOutcome total_;
};

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  FATHOM_ASSIGN(const DarshanTexts texts, DarshanTexts::open(files, "darshan-parser"));
  DarshanImport import(files, options);
  FATHOM_TRY(import.read(texts.paths()));
  FATHOM_TRY(import.write(directory));
  return import.outcome();
}

// A log, or comments that only Darshan's parsers write, or a counter.
bool matches(std::string_view head) {
  if (is_darshan_log(head)) return true;
  if (head.starts_with("# darshan log version:")) return head.find("# DXT,") == head.npos;
  for (const std::string_view line : split(head, '\n')) {
    if (trim(line).empty() || line.starts_with('#')) continue;
    return parse_darshan_counter(line).has_value();
  }
  return false;
}

}  // namespace

extern const ImporterDef kDarshanImporter;
const ImporterDef kDarshanImporter = {
    .name = "darshan",
    .summary = "Darshan's counters: a log, or the output of 'darshan-parser'",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
