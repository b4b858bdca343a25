// SPDX-License-Identifier: MIT
// `fathom job import` and `fathom job move`: what lies elsewhere comes into a store. Dumps of
// profiling-framework are read line by line, its Redis databases as it wrote them, other stores of
// ours by copy_store.h.
#include <memory>
#include <optional>
#include <string>

#include "analysis/import/line_reader.h"
#include "base/ids.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/fleet/job_arguments.h"
#include "cli/fleet/stdin_lines.h"
#include "cli/tell.h"
#include "fleet/redis/old_layout.h"
#include "fleet/redis/old_redis.h"
#include "fleet/stores/copy_store.h"
#include "fleet/stores/open_store.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kRows = 20'000;  // of a batch
constexpr std::size_t kRecords = 1000;

// Lines of a dump, in batches of one sender that was never seen before.
class DumpLines {
 public:
  DumpLines(fleet::JobStore& store, std::string job) : store_(store), job_(std::move(job)) {
    rows_.id = records_.id = {.client = random_id(), .seq = 0};
  }

  Status add(std::string_view text) {
    ++line_;
    if (trim(text).empty()) return {};
    Result<fleet::OldLine> line = fleet::parse_old_line(text);
    if (!line) {
      if (damaged_++ == 0) first_damaged_ = line_;
      return {};
    }
    ++taken_;
    if (!line->record.empty()) records_.records.push_back(std::move(line->record));
    for (fleet::ProfileRow& row : line->rows) rows_.rows.push_back(std::move(row));
    return rows_.rows.size() < kRows && records_.records.size() < kRecords ? Status() : send();
  }

  // Batches have numbers of a sender that nobody else is, so a store that was asked twice (an
  // answer was lost) adds them once.
  Status send() {
    if (!rows_.rows.empty()) {
      ++rows_.id.seq;
      FATHOM_TRY(store_.add_profile(job_, rows_));
      rows_.rows.clear();
    }
    if (!records_.records.empty()) {
      ++records_.id.seq;
      FATHOM_TRY(store_.add_records(job_, std::string(fleet::kBenchmarks), records_));
      records_.records.clear();
    }
    return {};
  }

  Status finish() {
    FATHOM_TRY(send());
    if (taken_ == 0)
      return Error{Code::kInvalid, "it contains no lines of profiling-framework's dumps", ""};
    if (damaged_ > 0)
      remark(counted(damaged_, "damaged line") + " left out, the first is line " +
             std::to_string(first_damaged_));
    return {};
  }

 private:
  fleet::JobStore& store_;
  std::string job_;
  fleet::ProfileBatch rows_;
  fleet::RecordBatch records_;
  std::int64_t line_ = 0, taken_ = 0, damaged_ = 0, first_damaged_ = 0;
};

Status read_stdin(DumpLines& lines) {
  StdinLines input;
  while (true) {
    FATHOM_ASSIGN(const StdinLines::Line line, input.next(StdinLines::kForever));
    if (line.state == StdinLines::State::kEnd) return {};
    if (line.state != StdinLines::State::kNothingYet) FATHOM_TRY(lines.add(line.text));
  }
}

Status read_dump(const std::string& path, DumpLines& lines) {
  if (path == "-") return read_stdin(lines);
  FATHOM_ASSIGN(analysis::LineReader reader, analysis::LineReader::open(path));
  while (true) {
    FATHOM_ASSIGN(const std::optional<std::string_view> line, reader.next());
    if (!line) return {};
    FATHOM_TRY(lines.add(*line));
  }
}

Result<int> import_redis(fleet::JobStore& store, const std::string& address) {
  FATHOM_ASSIGN(const fleet::OldImport outcome, fleet::import_old_redis(address, store));
  for (const std::string& sentence : outcome.trouble) remark(sentence);
  FATHOM_TRY(print(counted(outcome.jobs, "job") + ", " + counted(outcome.rows, "sum") + " and " +
                   counted(outcome.records, "benchmark") + " imported\n"));
  return outcome.trouble.empty() ? 0 : exit_status(Code::kInvalid);
}

}  // namespace

Result<int> import_jobs(fleet::JobStore& store, const JobArguments& a) {
  if (!a.redis.empty()) {
    if (!a.job.empty())
      return usage_error("--redis imports all jobs", "write: fathom job import --redis HOST:PORT");
    return import_redis(store, a.redis);
  }
  if (a.other.empty())
    return usage_error("a file of profiling-framework's dumps is missing",
                       "write: fathom job import NAME FILE");
  FATHOM_TRY(existing_job(store, a.job));
  DumpLines lines(store, a.job);
  FATHOM_TRY(read_dump(a.other, lines));
  FATHOM_TRY(lines.finish());
  return 0;
}

Result<int> move_jobs(fleet::JobStore& store, const JobArguments& a) {
  if (!fleet::is_store_address(a.to))
    return usage_error(a.to.empty() ? "--to STORE is missing"
                                    : "--to '" + escape_control(a.to) + "' is not a store",
                       "write: --to sqlite:FILE or --to redis://HOST:PORT/DB");
  if (!a.job.empty()) FATHOM_TRY(existing_job(store, a.job));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::JobStore> to, fleet::open_store(a.to));
  fleet::CopyOptions options;
  if (!a.job.empty()) options.jobs = {a.job};
  FATHOM_ASSIGN(const fleet::Copied copied, fleet::copy_store(store, *to, options));
  FATHOM_TRY(print(counted(copied.jobs, "job") + ", " + counted(copied.rows, "sum") + " and " +
                   counted(copied.records, "record") + " copied\n"));
  return 0;
}

}  // namespace fathom::cli
