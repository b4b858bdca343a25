// SPDX-License-Identifier: MIT
#include "sql/parquet_writer.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "sql/quote.h"
#include "sql/row_source.h"

namespace fathom::sql {

namespace {

Status check(const Batch& batch) {
  if (batch.columns.size() == batch.data.size()) return {};
  return Error{Code::kInvalid, "a batch has a column without data", ""};
}

bool is_all_null(const ColumnDef& column, const ColumnData& data) {
  const bool given = !data.int64s.empty() || !data.int32s.empty() || !data.doubles.empty() ||
                     !data.codes.empty() || !data.texts.empty() || !data.offsets.empty();
  if (!given) return true;
  if (!data.valid.empty() && std::ranges::all_of(data.valid, [](auto one) { return one == 0; }))
    return true;
  return column.kind == ColumnKind::kDictionary &&
         std::ranges::all_of(data.codes, [](auto code) { return code == kNullCode; });
}

std::string null_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kInt64:
      return "CAST(NULL AS BIGINT)";
    case ColumnKind::kInt32:
      return "CAST(NULL AS INTEGER)";
    case ColumnKind::kDouble:
      return "CAST(NULL AS DOUBLE)";
    case ColumnKind::kDictionary:
    case ColumnKind::kText:
      return "CAST(NULL AS VARCHAR)";
    case ColumnKind::kInt64List:
      return "CAST(NULL AS BIGINT[])";
    case ColumnKind::kTextMap:
      return "CAST(NULL AS MAP(VARCHAR, VARCHAR))";
  }
  return "NULL";
}

// The columns that have values, and the list that selects them all. DuckDB writes a constant in a
// fraction of the time that it takes for a column in which every row happens to be NULL.
struct Thinned {
  std::vector<ColumnDef> columns;
  std::vector<ColumnData> data;
  std::string list;

  explicit Thinned(const Batch& batch) {
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
      const ColumnDef& column = batch.columns[i];
      const std::string name = quote_identifier(column.name);
      if (!list.empty()) list += ", ";
      if (is_all_null(column, batch.data[i])) {
        list += null_of(column.kind) + " AS " + name;
        continue;
      }
      list += name;
      columns.push_back(column);
      data.push_back(batch.data[i]);
    }
  }
};

std::string copy_statement(const std::string& list, const std::string& from,
                           const std::string& path, const ParquetOptions& options) {
  return "COPY (SELECT " + list + " FROM " + from + ") TO " + quote_literal(path) +
         " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL " +
         std::to_string(options.zstd_level) + ", PARQUET_VERSION v2, ROW_GROUP_SIZE " +
         std::to_string(options.row_group_size) + ", USE_TMP_FILE false)";
}

Status write_source(Connection& connection, const std::string& path, RowSource& source,
                    const ParquetOptions& options, const std::string& list = "*") {
  const std::string unfinished = path + ".tmp";
  std::error_code failed;
  Status written = connection.with_rows(source, [&](const std::string& from) {
    return connection.execute(copy_statement(list, from, unfinished, options));
  });
  if (written) {
    std::filesystem::rename(unfinished, path, failed);
    if (!failed) return {};
    written = Error{Code::kIo, "rename to " + path + ": " + failed.message(), ""};
  }
  std::filesystem::remove(unfinished, failed);
  return std::move(written).error().with("write " + path);
}

}  // namespace

Status write_parquet(Connection& connection, const std::string& path, const Batch& batch,
                     const ParquetOptions& options) {
  FATHOM_TRY(check(batch));
  FATHOM_ASSIGN(const DuckdbApi* api, duckdb_api());
  const Thinned thinned(batch);
  if (batch.rows == 0 || thinned.columns.empty()) {
    RowSource source(*api, batch);
    return write_source(connection, path, source, options);
  }
  const Batch kept{.columns = thinned.columns, .data = thinned.data, .rows = batch.rows};
  RowSource source(*api, kept);
  return write_source(connection, path, source, options, thinned.list);
}

Status write_parquet(Connection& connection, const std::string& path,
                     std::span<const ColumnDef> columns, NextRows next,
                     const ParquetOptions& options) {
  FATHOM_ASSIGN(const DuckdbApi* api, duckdb_api());
  RowSource source(*api, columns, std::move(next));
  return write_source(connection, path, source, options);
}

Status register_table(Connection& connection, const std::string& name, const Batch& batch) {
  FATHOM_TRY(check(batch));
  FATHOM_ASSIGN(const DuckdbApi* api, duckdb_api());
  RowSource source(*api, batch);
  Status made = connection.with_rows(source, [&](const std::string& from) {
    return connection.execute("CREATE OR REPLACE TABLE " + quote_identifier(name) +
                              " AS SELECT * FROM " + from);
  });
  if (!made) return std::move(made).error().with("make table " + name);
  return {};
}

}  // namespace fathom::sql
