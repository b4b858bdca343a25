// SPDX-License-Identifier: MIT
#include "analysis/view_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/quote.h"

namespace fathom::analysis {

std::int64_t int_of(const Value& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell.data);
  return number == nullptr ? 0 : *number;
}

std::string text_of(const Value& cell) {
  const auto* text = std::get_if<std::string>(&cell.data);
  return text == nullptr ? "" : *text;
}

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

std::int64_t rows_wanted(const ViewOptions& options, std::int64_t own_choice) {
  return options.top >= 0 ? options.top : own_choice;
}

std::string limit_sql(std::int64_t rows) { return rows > 0 ? fmt::format(" LIMIT {}", rows) : ""; }

void note_left_out(Table& table, std::int64_t all_rows, std::string_view what) {
  const auto shown = static_cast<std::int64_t>(table.rows.size());
  if (all_rows > shown) {
    table.note = fmt::format("{} of {} {}; --top 0 shows all", shown, all_rows, what);
  }
}

Result<TimeBase> time_base(Store& store) {
  TimeBase base;
  FATHOM_ASSIGN(base.wall, store.wall_ns());
  FATHOM_ASSIGN(
      const Table threads,
      store.query("SELECT count(*), CAST(coalesce(sum(greatest(coalesce(\"end\", $1) - start, 0)), "
                  "0) AS BIGINT) FROM threads WHERE start IS NOT NULL",
                  {base.wall}));
  FATHOM_ASSIGN(const Table processes,
                store.query("SELECT count(*) FROM (SELECT DISTINCT host, pid FROM processes)"));
  FATHOM_ASSIGN(const Table sums,
                store.query("SELECT CAST(coalesce(sum(self), 0) AS BIGINT), "
                            "CAST(coalesce(sum(calls), 0) AS BIGINT) FROM summary"));
  base.threads = int_of(threads.rows[0][0]);
  base.processes = int_of(processes.rows[0][0]);
  base.in_calls = int_of(sums.rows[0][0]);
  base.events = int_of(sums.rows[0][1]);
  base.thread_time = int_of(threads.rows[0][1]);
  if (base.threads == 0) base.thread_time = base.wall;
  base.thread_time = std::max(base.thread_time, base.in_calls);
  return base;
}

Value percent_of(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return {};
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
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
