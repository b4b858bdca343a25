// SPDX-License-Identifier: MIT
// Kinds of records that somebody made up: `fathom job kind` registers them, `fathom job add` takes
// their records.
#include <string>

#include "base/files.h"
#include "base/ids.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/fleet/job_arguments.h"
#include "cli/fleet/stdin_lines.h"
#include "cli/tell.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kRecords = 1000;  // of a batch
constexpr std::size_t kBytes = std::size_t{8} << 20;

Result<int> list_kinds(fleet::JobStore& store, const JobArguments& a) {
  FATHOM_ASSIGN(const std::vector<fleet::RecordKind> kinds, store.kinds());
  Table table;
  table.columns = {{.name = "name"}, {.name = "schema"}};
  for (const fleet::RecordKind& kind : kinds) table.rows.push_back({kind.name, kind.schema});
  if (kinds.empty()) table.note = "only 'benchmark', which is built in";
  FATHOM_TRY(print(render::render(table, a.output.format, a.output.style)));
  return 0;
}

Result<int> add_kind(fleet::JobStore& store, const JobArguments& a) {
  if (!fleet::is_job_name(a.other) || a.other == fleet::kBenchmarks)
    return Error{Code::kInvalid, "'" + escape_control(a.other) + "' cannot be the name of a kind",
                 "use up to 64 letters, digits and . _ - with a letter or digit first"};
  if (a.schema.empty())
    return usage_error("the schema is missing",
                       "write: fathom job kind add " + a.other + " --schema FILE");
  FATHOM_ASSIGN(const std::string schema, read_file(a.schema));
  FATHOM_TRY(store.add_kind({.name = a.other, .schema = schema}));
  return 0;
}

// Each batch has its own number of one sender that was never seen before.
class Batches {
 public:
  Batches(fleet::JobStore& store, const JobArguments& a) : store_(store), a_(a) {
    batch_.id = {.client = random_id(), .seq = 0};
  }
  Status add(std::string_view line) {
    if (trim(line).empty()) return {};
    batch_.records.emplace_back(line);
    bytes_ += line.size();
    return batch_.records.size() < kRecords && bytes_ < kBytes ? Status() : send();
  }
  Status send() {
    if (batch_.records.empty()) return {};
    ++batch_.id.seq;
    Status added = store_.add_records(a_.job, a_.other, batch_);
    if (!added)
      return std::move(added).error().with(counted(sent_, "record") +
                                           " stored before this one failed");
    sent_ += static_cast<std::int64_t>(batch_.records.size());
    batch_.records.clear();
    bytes_ = 0;
    return {};
  }
  [[nodiscard]] std::int64_t sent() const { return sent_; }

 private:
  fleet::JobStore& store_;
  const JobArguments& a_;
  fleet::RecordBatch batch_;
  std::size_t bytes_ = 0;
  std::int64_t sent_ = 0;
};

}  // namespace

Result<int> manage_kinds(fleet::JobStore& store, const JobArguments& a) {
  if (a.job == "list" && a.other.empty()) return list_kinds(store, a);
  if (a.job == "add" && !a.other.empty()) return add_kind(store, a);
  return usage_error("'job kind' takes 'add' or 'list'",
                     "write: fathom job kind add NAME --schema FILE");
}

Result<int> add_to_job(fleet::JobStore& store, const JobArguments& a) {
  if (!a.from_stdin)
    return usage_error("--stdin is missing", "write: fathom job add NAME KIND --stdin < FILE");
  FATHOM_TRY(existing_job(store, a.job));
  Batches batches(store, a);
  StdinLines lines;
  while (true) {
    FATHOM_ASSIGN(const StdinLines::Line line, lines.next(StdinLines::kForever));
    if (line.state == StdinLines::State::kEnd) break;
    if (line.state == StdinLines::State::kTooLong)
      return Error{Code::kInvalid, "a record is longer than 64 MiB", ""};
    FATHOM_TRY(batches.add(line.text));
  }
  FATHOM_TRY(batches.send());
  if (batches.sent() == 0) return Error{Code::kInvalid, "standard input contains no records", ""};
  return 0;
}

}  // namespace fathom::cli
