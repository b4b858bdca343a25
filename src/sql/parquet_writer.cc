// SPDX-License-Identifier: MIT
#include "sql/parquet_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "sql/quote.h"
#include "sql/row_source.h"

namespace fathom::sql {

namespace {

Status check(const Batch& batch) {
  if (batch.columns.size() == batch.data.size()) return {};
  return Error{Code::kInvalid, "a batch has a column without data", ""};
}

std::string copy_statement(const std::string& from, const std::string& path,
                           const ParquetOptions& options) {
  return "COPY (SELECT * FROM " + from + ") TO " + quote_literal(path) +
         " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL " +
         std::to_string(options.zstd_level) + ", PARQUET_VERSION v2, ROW_GROUP_SIZE " +
         std::to_string(options.row_group_size) + ", USE_TMP_FILE false)";
}

Status write_source(Connection& connection, const std::string& path, RowSource& source,
                    const ParquetOptions& options) {
  const std::string unfinished = path + ".tmp";
  std::error_code failed;
  Status written = connection.with_rows(source, [&](const std::string& from) {
    return connection.execute(copy_statement(from, unfinished, options));
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
  RowSource source(*api, batch);
  return write_source(connection, path, source, options);
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
