// SPDX-License-Identifier: MIT
// `fathom job show` and `fathom job compare`: for people the largest sums and the latest records,
// for programs all of them as they are.
#include <algorithm>
#include <optional>

#include "base/escape.h"
#include "base/plural.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/fleet/job_arguments.h"
#include "cli/fleet/job_files.h"
#include "cli/tell.h"
#include "fleet/history.h"
#include "fleet/record_table.h"
#include "fleet/recordings/recording_store.h"
#include "render/json_writer.h"

namespace fathom::cli {
namespace {

constexpr std::int64_t kRows = 30;
constexpr std::size_t kPart = 4096;  // rows that are printed at a time

const std::vector<Column> kProfileColumns = {
    {.name = "node"}, {.name = "exec"}, {.name = "event"}, {"count", Measure::kCount}};

std::vector<Value> cells_of(const fleet::ProfileRow& row) {
  return {row.node, row.exec, row.event, row.count};
}

// All rows, in the order of their names.
Status print_profile(fleet::JobStore& store, const JobArguments& a) {
  render::RowPrinter printer(a.output.format, a.output.style, print);
  Table part;
  part.columns = kProfileColumns;
  Status printed;
  FATHOM_TRY(store.profile(a.job, [&](const fleet::ProfileRow& row) {
    part.rows.push_back(cells_of(row));
    if (part.rows.size() < kPart) return true;
    printed = printer.rows(part);
    part.rows.clear();
    return printed.has_value();
  }));
  FATHOM_TRY(std::move(printed));
  FATHOM_TRY(printer.rows(part));
  return printer.finish();
}

// The largest sums.
Result<Table> profile_table(fleet::JobStore& store, const JobArguments& a) {
  std::vector<fleet::ProfileRow> rows;
  FATHOM_TRY(store.profile(a.job, [&](const fleet::ProfileRow& row) {
    rows.push_back(row);
    return true;
  }));
  std::ranges::stable_sort(rows, std::greater(), &fleet::ProfileRow::count);
  Table table{.title = "Profile", .columns = kProfileColumns, .rows = {}, .note = {}};
  const auto wanted = static_cast<std::size_t>(a.top < 0 ? kRows : a.top);
  const std::size_t shown = wanted == 0 ? rows.size() : std::min(wanted, rows.size());
  for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(cells_of(rows[i]));
  if (rows.empty()) table.note = "no profile has been sent yet";
  if (shown < rows.size())
    table.note = std::to_string(rows.size() - shown) + " more; --top 0 shows all";
  return table;
}

// Recordings that records name are shown as the words that `fathom report` takes.
Status link_recordings(Table& table, const JobArguments& a) {
  const auto column = std::ranges::find(table.columns, "recording", &Column::name);
  if (column == table.columns.end()) return {};
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(a.store));
  const auto at = static_cast<std::size_t>(column - table.columns.begin());
  for (std::vector<Value>& row : table.rows) {
    auto* const name = std::get_if<std::string>(&row[at].data);
    if (name != nullptr && fleet::is_job_name(*name)) *name = fleet::recording_word(place, *name);
  }
  return {};
}

Result<Table> record_table(fleet::JobStore& store, const JobArguments& a) {
  fleet::RecordTable rows(a.record_kind());
  FATHOM_TRY(
      store.records(a.job, a.record_kind(), 0, [&](std::int64_t index, const std::string& json) {
        rows.add(index, json);
        return true;
      }));
  const std::int64_t damaged = rows.damaged();
  Table table = rows.take();
  table.title = a.kind.empty() ? "Benchmarks" : a.kind;
  FATHOM_TRY(link_recordings(table, a));
  if (table.rows.empty()) table.note = "there are no records yet";
  if (damaged > 0) table.note = counted(damaged, "damaged record") + " left out";
  return table;
}

// The same JSON, without characters that steer a terminal: in texts they become escapes of JSON,
// and between values only white space can be one.
std::string harmless(const std::string& json) {
  std::string text;
  for (std::size_t at = 0; at < json.size();) {
    const CodePoint point = code_point_at(json, at);
    const std::string_view piece = std::string_view(json).substr(at, point.length);
    at += point.length;
    if (point.value == U'\r') {
      text += ' ';
    } else if (point.value != U'\n' && point.value != U'\t' && steers_display(point.value)) {
      render::append_json_text(text, piece);
    } else {
      text += piece;
    }
  }
  return text;
}

// Records are JSON already, and are given back as they came.
Status print_records(fleet::JobStore& store, const JobArguments& a) {
  std::string text = "[";
  Status printed;
  FATHOM_TRY(store.records(a.job, a.record_kind(), 0,
                           [&](std::int64_t /*index*/, const std::string& json) {
                             text += (text == "[" ? "" : ",\n") + harmless(json);
                             if (text.size() < (std::size_t{1} << 20)) return true;
                             printed = print(text);
                             text.clear();
                             return printed.has_value();
                           }));
  FATHOM_TRY(std::move(printed));
  return print(text + "]\n");
}

Status show_one(fleet::JobStore& store, const JobArguments& a, bool profile) {
  const bool json = a.output.format == render::Format::kJson;
  if (!profile && json) return print_records(store, a);
  if (profile && !a.output.for_people()) return print_profile(store, a);
  FATHOM_ASSIGN(const Table table, profile ? profile_table(store, a) : record_table(store, a));
  return print(render::render(table, a.output.format, a.output.style));
}

Status show_both(fleet::JobStore& store, const JobArguments& a) {
  FATHOM_ASSIGN(Table profile, profile_table(store, a));
  FATHOM_ASSIGN(Table records, record_table(store, a));
  const Table tables[] = {std::move(profile), std::move(records)};
  return print(render::render_document(tables, a.output.format, a.output.style));
}

Result<int> show_answer(const Result<fleet::HistoryAnswer>& answer, const JobArguments& a) {
  if (!answer) return answer.error();
  FATHOM_TRY(print(fleet::answer_text(*answer, a.output.format, a.output.style)));
  for (const std::string& note : answer->notes) remark(note);
  return answer->found ? 1 : 0;
}

}  // namespace

Result<int> show_job(fleet::JobStore& store, const JobArguments& a) {
  const int chosen = (a.profile ? 1 : 0) + (a.benchmarks ? 1 : 0) + (a.kind.empty() ? 0 : 1);
  if (chosen > 1 || (a.trend && (a.profile || !a.file.empty())))
    return usage_error("show one of --profile, --benchmarks and --kind, or --trend",
                       "fathom job show " + escape_control(a.job) + " --profile");
  FATHOM_TRY(existing_job(store, a.job));
  if (a.trend) return show_answer(fleet::trend_of(store, a.job, a.record_kind()), a);
  if (!a.file.empty()) {
    if (chosen == 0)
      return usage_error("--file needs --profile, --benchmarks or --kind", "each has its own file");
    FATHOM_TRY(a.profile ? write_profile(store, a.job, a.file, a.format.safe_csv)
                         : write_records(store, a.job, a.record_kind(), a.file, a.format.safe_csv));
    return 0;
  }
  FATHOM_TRY(chosen == 0 ? show_both(store, a) : show_one(store, a, a.profile));
  return 0;
}

Result<int> compare_jobs(fleet::JobStore& store, const JobArguments& a) {
  for (const std::string& job : {a.job, a.other}) FATHOM_TRY(existing_job(store, job));
  return show_answer(fleet::compare_jobs(store, a.job, a.other, a.record_kind()), a);
}

}  // namespace fathom::cli
