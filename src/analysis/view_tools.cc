// SPDX-License-Identifier: MIT
// Helpers of views: columns, units, notes about rows that are not shown. What all views share
// belongs here, what one needs stays in its file.
#include "analysis/view_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/plural.h"
#include "sql/quote.h"
#include "trace/rows/summary.h"

namespace fathom::analysis {

std::size_t column_of(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

void set_measures(Table& table,
                  std::initializer_list<std::pair<std::string_view, Measure>> measures) {
  for (Column& column : table.columns) {
    for (const auto& [name, measure] : measures) {
      if (column.name == name) column.measure = measure;
    }
  }
}

void set_ranks(Table& table, std::initializer_list<std::string_view> least_first) {
  auto rank = static_cast<std::uint8_t>(least_first.size());
  for (const std::string_view name : least_first) {
    const std::size_t place = column_of(table, name);
    if (place < table.columns.size()) table.columns[place].rank = rank;
    --rank;
  }
}

std::int64_t rows_wanted(const ViewOptions& options, std::int64_t own_choice) {
  return options.top >= 0 ? options.top : own_choice;
}

std::string limit_sql(std::int64_t rows) { return rows > 0 ? fmt::format(" LIMIT {}", rows) : ""; }

// Statements with a LIMIT count all rows in a last column, by a window: that saves asking twice.
std::int64_t take_row_count(Table& table) {
  const std::int64_t all = table.rows.empty() ? 0 : int_of(table.rows[0].back());
  for (auto& row : table.rows) row.pop_back();
  table.columns.pop_back();
  return all;
}

void note_left_out(Table& table, std::int64_t all_rows, std::string_view what) {
  const auto shown = static_cast<std::int64_t>(table.rows.size());
  if (all_rows > shown) {
    const std::string before = table.note.empty() ? "" : table.note + "; ";
    table.note =
        fmt::format("{}{} of {} {} shown; --top 0 shows all", before, shown, all_rows, what);
  }
}

Status note_no_calls(Store& store, Table& table, std::string_view for_samples) {
  FATHOM_ASSIGN(const Table samples, store.query("SELECT 1 FROM samples LIMIT 1"));
  table.note = kNoCalls;
  if (!samples.rows.empty()) table.note += fmt::format("; {} shows the samples", for_samples);
  return {};
}

Status note_other_files(Store& store, Table& table) {
  FATHOM_ASSIGN(const Table found,
                store.query(fmt::format(
                    "SELECT coalesce(CAST(sum(calls) AS BIGINT), 0) FROM summary WHERE file = '{}'",
                    trace::kOtherFiles)));
  const std::int64_t calls = int_of(found.rows[0][0]);
  if (calls == 0) return {};
  const std::string before = table.note.empty() ? "" : table.note + "; ";
  table.note = fmt::format(
      "{}{} went to {}, which have no rows of their own; the table events of 'fathom sql' has them",
      before, counted(calls, "call"), trace::kOtherFiles);
  return {};
}

// Every table of a report asks for it, so it is added up once. A part of a run has its own from the
// start (show_only).
Result<TimeBase> time_base(Store& store) {
  static constexpr char kHeld[] =
      "SELECT \"begin\", wall, thread_time, in_calls, threads, processes, events "
      "FROM temp.main.totals";
  Result<Table> held = store.query_sums(kHeld);
  if (!held) {  // nobody has asked before
    FATHOM_TRY(store.query_sums("CREATE TEMP TABLE totals AS FROM memory.main.totals"));
    held = store.query_sums(kHeld);
  }
  FATHOM_ASSIGN(const Table rows, std::move(held));
  const std::vector<Value>& row = rows.rows[0];
  return TimeBase{.begin = int_of(row[0]),
                  .wall = int_of(row[1]),
                  .thread_time = int_of(row[2]),
                  .in_calls = int_of(row[3]),
                  .threads = int_of(row[4]),
                  .processes = int_of(row[5]),
                  .events = int_of(row[6])};
}

// The view is a long statement: what asks for it several times gets a table.
Status hold_waits(Store& store) {
  if (store.query_sums("SELECT 1 FROM temp.main.waits LIMIT 0")) return {};
  const auto held = store.query("CREATE TEMP TABLE waits AS SELECT * FROM memory.main.waits");
  return held ? Status() : Status(held.error());
}

Value percent_of(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return {};
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

List dense(const Value& places, const Value& values, std::int64_t count, const Value& between) {
  List line(static_cast<std::size_t>(count), between);
  const auto* where = std::get_if<List>(&places.data);
  const auto* what = std::get_if<List>(&values.data);
  for (std::size_t i = 0; where != nullptr && what != nullptr && i < where->size(); ++i) {
    line[static_cast<std::size_t>(int_of((*where)[i]))] = (*what)[i];
  }
  return line;
}

std::string columns_sql(const std::vector<std::string>& names, std::string_view prefix) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += std::string(prefix) + sql::quote_identifier(name);
  }
  return text;
}

}  // namespace fathom::analysis
