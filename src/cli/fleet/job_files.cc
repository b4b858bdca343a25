// SPDX-License-Identifier: MIT
// Writes a job's profile and its records as lines of JSON, CSV or Parquet. Lines are streamed as
// the store tells them; a table is built whole first, since rows can add columns to it.
#include "cli/fleet/job_files.h"

#include <fcntl.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/files.h"
#include "base/plural.h"
#include "base/scratch.h"
#include "base/text.h"
#include "cli/fleet/table_parquet.h"
#include "cli/tell.h"
#include "fleet/record_table.h"
#include "fleet/redis/old_layout.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

// Text into a file that gets its name when it is whole.
class Draft {
 public:
  static Result<Draft> open(const std::string& path) {
    TemporaryPath place(path + ".tmp");
    FATHOM_ASSIGN(File file, File::open(place.path(), O_WRONLY | O_CREAT | O_TRUNC));
    return Draft(path, std::move(place), std::move(file));
  }
  Status add(std::string_view text) {
    text_ += text;
    return text_.size() < kPiece ? Status() : flush();
  }
  Status finish() {
    FATHOM_TRY(flush());
    FATHOM_TRY(rename_path(place_.path(), path_));
    place_.keep();
    return {};
  }

 private:
  Draft(std::string path, TemporaryPath place, File file)
      : path_(std::move(path)), place_(std::move(place)), file_(std::move(file)) {}
  Status flush() {
    FATHOM_TRY(file_.write_all(text_));
    text_.clear();
    return {};
  }

  std::string path_;
  TemporaryPath place_;
  File file_;
  std::string text_;
};

// Rows of a store's answer, as long as nothing goes wrong with what is done with them.
template <class Take>
auto while_good(Status& status, Take take) {
  return [&status, take](const auto&... given) {
    status = take(given...);
    return status.has_value();
  };
}

Status write_node_lines(fleet::JobStore& store, const std::string& job, const std::string& path) {
  FATHOM_ASSIGN(Draft draft, Draft::open(path));
  std::vector<fleet::ProfileRow> node;  // rows come in order of node and exec
  Status written;
  const auto take = [&](const fleet::ProfileRow& row) -> Status {
    if (!node.empty() && (node[0].node != row.node || node[0].exec != row.exec)) {
      FATHOM_TRY(draft.add(fleet::old_node_line(node) + "\n"));
      node.clear();
    }
    node.push_back(row);
    return {};
  };
  FATHOM_TRY(store.profile(job, while_good(written, take)));
  FATHOM_TRY(std::move(written));
  if (!node.empty()) FATHOM_TRY(draft.add(fleet::old_node_line(node) + "\n"));
  return draft.finish();
}

// Between values of JSON a line end is white space, and inside of them there is none.
std::string as_one_line(std::string json) {
  std::ranges::replace_if(
      json, [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  return json;
}

Status write_record_lines(fleet::JobStore& store, const std::string& job, const std::string& kind,
                          const std::string& path) {
  FATHOM_ASSIGN(Draft draft, Draft::open(path));
  Status written;
  const auto take = [&](std::int64_t index, const std::string& json) -> Status {
    if (kind != fleet::kBenchmarks) return draft.add(as_one_line(json) + "\n");
    Result<std::vector<std::string>> lines = fleet::old_benchmark_lines(json);
    if (!lines) return std::move(lines).error().with("record " + std::to_string(index));
    for (const std::string& line : *lines) FATHOM_TRY(draft.add(line + "\n"));
    return {};
  };
  FATHOM_TRY(store.records(job, kind, 0, while_good(written, take)));
  FATHOM_TRY(std::move(written));
  return draft.finish();
}

Status write_table(const Table& table, const std::string& path, bool safe_csv) {
  if (path.ends_with(".parquet")) return write_table_parquet(path, table);
  render::Style style;
  style.safe_csv = safe_csv;
  FATHOM_ASSIGN(Draft draft, Draft::open(path));
  FATHOM_TRY(draft.add(render::render(table, render::Format::kCsv, style)));
  return draft.finish();
}

bool is_table(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".parquet");
}

}  // namespace

Status write_profile(fleet::JobStore& store, const std::string& job, const std::string& path,
                     bool safe_csv) {
  if (!is_table(path)) return write_node_lines(store, job, path);
  Table table;
  table.columns = {{.name = "node"}, {.name = "exec"}, {.name = "event"}, {.name = "count"}};
  FATHOM_TRY(store.profile(job, [&](const fleet::ProfileRow& row) {
    table.rows.push_back({row.node, row.exec, row.event, row.count});
    return true;
  }));
  return write_table(table, path, safe_csv);
}

Status write_records(fleet::JobStore& store, const std::string& job, const std::string& kind,
                     const std::string& path, bool safe_csv) {
  if (!is_table(path)) return write_record_lines(store, job, kind, path);
  fleet::RecordTable rows(kind);
  FATHOM_TRY(store.records(job, kind, 0, [&](std::int64_t index, const std::string& json) {
    rows.add(index, json);
    return true;
  }));
  if (rows.damaged() > 0) remark(counted(rows.damaged(), "damaged record") + " left out");
  return write_table(rows.take(), path, safe_csv);
}

}  // namespace fathom::cli
