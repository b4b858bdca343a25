// SPDX-License-Identifier: MIT
#include "analysis/view_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/quote.h"

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
  FATHOM_ASSIGN(
      const Table rows,
      store.query("SELECT wall, thread_time, in_calls, threads, processes, events FROM totals"));
  const std::vector<Value>& row = rows.rows[0];
  return TimeBase{.wall = int_of(row[0]),
                  .thread_time = int_of(row[1]),
                  .in_calls = int_of(row[2]),
                  .threads = int_of(row[3]),
                  .processes = int_of(row[4]),
                  .events = int_of(row[5])};
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
