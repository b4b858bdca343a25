// SPDX-License-Identifier: MIT
// The rows that a statement gives, chunk by chunk. Included by .cc files of this room only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "sql/arrow.h"
#include "sql/chunk.h"
#include "sql/duckdb_api.h"
#include "sql/value_reader.h"

namespace fathom::sql {

// Does not move: DuckDB knows where it is. One thread at a time; it must go before its connection.
class ResultSet {
 public:
  explicit ResultSet(const DuckdbApi& api) : api_(api) {}
  ~ResultSet();
  ResultSet(const ResultSet&) = delete;
  ResultSet& operator=(const ResultSet&) = delete;

  // Starts the statement.
  Status execute(duckdb_prepared_statement statement);
  [[nodiscard]] std::vector<std::string> column_names() const;

  // As values. The next rows replace what is in `rows`, none at the end. open_columns() comes
  // first.
  Status open_columns(Table& rows);
  Status next(Table& rows);

  // As columns where they lie: all rows that are left.
  Status each_chunk(const OnChunk& use);

  // As columns. An array whose `release` is NULL is the end.
  Status arrow_schema(ArrowSchema& out);
  Status next_arrow(ArrowArray& out);

 private:
  void read_chunk(duckdb_data_chunk chunk, Table& rows);
  Result<duckdb_data_chunk> fetch();  // nullptr at the end
  Status outcome(duckdb_error_data error);

  const DuckdbApi& api_;
  mutable duckdb_result handle_{};  // DuckDB's C functions do not know const
  duckdb_arrow_options arrow_options_ = nullptr;
  std::vector<ValueReader> readers_;
};

}  // namespace fathom::sql
