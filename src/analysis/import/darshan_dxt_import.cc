// SPDX-License-Identifier: MIT
// Darshan's extended traces: the text of darshan-dxt-parser, or a log that it reads. An access is
// an event. Texts are read twice: depths and jobs come from the first pass.
#include <algorithm>
#include <map>

#include "analysis/import/darshan_log.h"
#include "analysis/import/import.h"
#include "analysis/import/import_lines.h"
#include "analysis/import/nesting.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kRowsPerAppend = 1 << 16;

// The file and the host of the accesses that follow.
struct Section {
  std::string file;
  std::string host;

  // "# DXT, file_id: 1, file_name: /x", "# DXT, rank: 0, hostname: n1"
  void learn(std::string_view comment) {
    constexpr std::string_view kFile = ", file_name: ", kHost = ", hostname: ";
    if (!comment.starts_with("# DXT,")) return;
    if (const std::size_t at = comment.find(kFile); at != comment.npos)
      file = trim(comment.substr(at + kFile.size()));
    if (const std::size_t at = comment.find(kHost); at != comment.npos)
      host = trim(comment.substr(at + kHost.size()));
  }
};

// gather() and write() read the same lines in the same order: Nesting gives depths back in the
// order in which spans went in.
class DxtImport {
 public:
  DxtImport(std::span<const std::string> files, const ImportOptions& options)
      : files_(files), options_(options) {}

  Status gather(std::span<const std::string> texts) {
    jobs_.emplace_back();
    const LineConsumer consumer = {.line = [&](std::string_view line) { return learn(line); },
                                   .file_ends = [&]() -> Status {
                                     jobs_.emplace_back();
                                     return {};
                                   }};
    FATHOM_TRY(import_lines(texts, options_, consumer, total_));
    jobs_.pop_back();
    if (total_.rows == 0) return nothing_found(files_.front(), total_);
    for (auto& [rank, nesting] : nestings_) nesting.finish();
    return {};
  }

  Status write(std::span<const std::string> texts, const std::string& directory) {
    FATHOM_ASSIGN(trace::RecordingWriter writer,
                  trace::RecordingWriter::create(directory, darshan_manifest(jobs_, files_),
                                                 {.max_bytes = options_.max_bytes}));
    ImportOutcome again;  // the first pass has counted already
    const LineConsumer consumer = {.line = [&](std::string_view line) { return add(line, writer); },
                                   .file_ends = [&]() -> Status {
                                     end_log(writer);
                                     return {};
                                   }};
    FATHOM_TRY(import_lines(texts, options_, consumer, again));
    FATHOM_TRY(writer.append(events_));
    tell_losses(total_, writer.manifest());
    return writer.finish();
  }

  [[nodiscard]] const ImportOutcome& outcome() const { return total_; }

 private:
  Result<bool> learn(std::string_view line) {
    DarshanJob& job = jobs_.back();
    if (line.starts_with('#')) job.learn(line);
    if (line.starts_with('#') || trim(line).empty()) return true;
    const std::optional<DarshanAccess> access = parse_darshan_access(line);
    if (!access) return false;
    ++total_.rows;
    job.processes = std::max<std::int64_t>(job.processes, access->rank + 1);
    job.run_ns = std::max(job.run_ns, access->end_ns);
    nestings_[{jobs_.size() - 1, access->rank}].add(
        access->begin_ns, access->end_ns - access->begin_ns, rank_of(*access));
    return true;
  }

  static NestingRank rank_of(const DarshanAccess& access) {
    return access.posix ? NestingRank::kPosix : NestingRank::kApp;
  }

  [[nodiscard]] std::int64_t shift(const trace::RecordingWriter& writer) const {
    return jobs_[at_].start_ns - writer.manifest().start_realtime_ns;
  }
  void end_log(trace::RecordingWriter& writer) {
    append_darshan_ranks(jobs_[at_], first_pid_, shift(writer), writer);
    first_pid_ += jobs_[at_].ranks();
    ++at_;
    section_ = {};
  }

  Result<bool> add(std::string_view line, trace::RecordingWriter& writer) {
    section_.learn(line);
    const std::optional<DarshanAccess> access = parse_darshan_access(line);
    if (!access) return true;
    trace::Strings& strings = writer.strings();
    const std::string_view name = access->write ? "write" : "read";
    trace::EventRow row;
    row.ts = access->begin_ns + shift(writer);
    row.dur = access->end_ns - access->begin_ns;
    row.pid = row.tid = first_pid_ + access->rank;
    row.rank = access->rank;
    row.depth = nestings_[{at_, access->rank}].next();
    row.layer = strings.code(access->posix ? "posix" : "app");
    row.name = strings.code(access->posix ? std::string(name) : "MPI-IO " + std::string(name));
    row.category = strings.code(access->posix ? name : "MPI-IO");
    row.file = strings.code_or_null(section_.file);
    row.host = strings.code_or_null(section_.host);
    row.offset = access->offset;
    row.size = row.bytes = access->bytes;
    events_.push(row);
    if (events_.rows() >= kRowsPerAppend) FATHOM_TRY(writer.append(events_));
    return true;
  }

  std::span<const std::string> files_;
  const ImportOptions& options_;
  std::vector<DarshanJob> jobs_;
  std::map<std::pair<std::size_t, std::int32_t>, Nesting> nestings_;  // by log and rank
  std::size_t at_ = 0;  // the log that is being read again
  std::int32_t first_pid_ = 0;
  Section section_;
  trace::EventBatch events_;
  ImportOutcome total_;
};

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  FATHOM_ASSIGN(const DarshanTexts texts, DarshanTexts::open(files, "darshan-dxt-parser"));
  DxtImport import(files, options);
  FATHOM_TRY(import.gather(texts.paths()));
  FATHOM_TRY(import.write(texts.paths(), directory));
  return import.outcome();
}

bool matches(std::string_view head) {
  return head.find("# DXT, file_id:") != head.npos ||
         (head.starts_with("# darshan log version:") && head.find("DXT_") != head.npos &&
          head.find("\nPOSIX\t") == head.npos);
}

}  // namespace

extern const ImporterDef kDarshanDxtImporter;
const ImporterDef kDarshanDxtImporter = {
    .name = "darshan-dxt",
    .summary =
        "single accesses recorded by Darshan's DXT: a log, or the output of 'darshan-dxt-parser'",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
