// SPDX-License-Identifier: MIT
// Judges SQL of strangers by DuckDB's own parse tree. A list of functions that only read is safer
// than one of those that act: new versions of DuckDB add functions.
#include "sql/select_guard.h"

#include <algorithm>
#include <string_view>

#include "sql/statement.h"

namespace fathom::sql {

namespace {

// DuckDB's parser writes the tree down as JSON; in it only a function called in FROM stands under
// the key "function".
constexpr char kInspect[] =
    "SELECT tree->>'$.error_message', tree->>'$..function.function_name' "
    "FROM (SELECT json_serialize_sql($1::VARCHAR)::JSON AS tree)";

constexpr std::string_view kReaders[] = {
    "unnest",
    "range",
    "generate_series",
    "repeat",
    "repeat_row",
    "json_each",
    "json_tree",
    "summary",
    "histogram",
    "histogram_values",
    "glob",
    "read_parquet",
    "parquet_scan",
    "read_csv",
    "read_csv_auto",
    "read_json",
    "read_json_auto",
    "read_text",
    "read_blob",
    "query_table",
    "sniff_csv",
    "icu_calendar_names",
    "pg_timezone_names",
};
// Families that only describe the database and its files.
constexpr std::string_view kReaderPrefixes[] = {"duckdb_", "pragma_", "parquet_"};

bool only_reads(std::string_view function) {
  const auto begins = [&](std::string_view prefix) { return function.starts_with(prefix); };
  return std::ranges::find(kReaders, function) != std::end(kReaders) ||
         std::ranges::any_of(kReaderPrefixes, begins);
}

Error not_a_select() {
  return {Code::kDenied, "only queries that read are allowed",
          "use SELECT, FROM, SHOW, DESCRIBE, SUMMARIZE or VALUES"};
}

Status judge(const std::vector<Value>& row) {
  if (!row[0].is_null()) return not_a_select();
  for (const Value& name : std::get<List>(row[1].data)) {
    const auto& function = std::get<std::string>(name.data);
    if (only_reads(function)) continue;
    return Error{Code::kDenied, "the function " + function + " is not allowed in FROM",
                 "query the recording's views: SHOW TABLES"};
  }
  return {};
}

}  // namespace

Status check_selects(const DuckdbApi& api, duckdb_connection connection, const std::string& sql) {
  FATHOM_ASSIGN(Statement inspection, Statement::prepare(api, connection, kInspect));
  return inspection.run({Value(sql)}, [](const Table& table) -> Status {
    return table.rows.empty() ? Status(not_a_select()) : judge(table.rows[0]);
  });
}

}  // namespace fathom::sql
