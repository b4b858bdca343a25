// SPDX-License-Identifier: MIT
// One prepared statement and its result. Included by .cc files of this room only.
#pragma once

#include <string>
#include <vector>

#include "sql/connection.h"
#include "sql/duckdb_api.h"
#include "sql/result_set.h"

namespace fathom::sql {

// One thread at a time; it must go before its connection. Errors are DuckDB's words in one line
// (engine_error.h).
class Statement {
 public:
  // One statement, whatever it does.
  static Result<Statement> prepare(const DuckdbApi& api, duckdb_connection connection,
                                   const std::string& sql);
  // One statement that selects; else an error that says what was wrong with it.
  static Result<Statement> prepare_select(const DuckdbApi& api, duckdb_connection connection,
                                          const std::string& sql);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Status run(const Parameters& parameters, const OnRows& on_rows);

  // The same in steps. The rows may be taken as long as the statement lives.
  [[nodiscard]] std::vector<std::string> columns() const;
  Status bind(const Parameters& parameters);
  Status execute(ResultSet& rows) { return rows.execute(handle_); }

 private:
  explicit Statement(const DuckdbApi& api) : api_(&api) {}
  [[nodiscard]] Error prepare_failure() const;

  const DuckdbApi* api_;
  duckdb_prepared_statement handle_ = nullptr;
};

}  // namespace fathom::sql
