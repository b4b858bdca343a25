// SPDX-License-Identifier: MIT
// Rows of ours as a table function of DuckDB's. One function is registered per database; its
// argument is the ticket of a source that is offered at that moment, so that no name and no pointer
// appears in SQL. Included by .cc files of this room only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sql/columns.h"
#include "sql/duckdb_api.h"
#include "sql/vector_writer.h"

namespace fathom::sql {

// Can be read once. Belongs to one thread; DuckDB calls it from one thread at a time.
class RowSource {
 public:
  // The batch's memory must outlive the source.
  RowSource(const DuckdbApi& api, const Batch& batch);

  [[nodiscard]] const std::vector<VectorWriter>& columns() const { return columns_; }
  // Writes the next rows into the chunk; an empty chunk is the end. A failure ends the source and
  // is kept.
  Status fill(duckdb_data_chunk chunk);
  // What fill() failed with: more than DuckDB can carry through its own errors.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  Status try_fill(duckdb_data_chunk chunk);

  const DuckdbApi* api_;
  std::vector<VectorWriter> columns_;
  Batch batch_;
  std::size_t at_ = 0;
  std::optional<Error> failure_;
};

// The sources on offer in one database. May be used by threads.
class RowSources {
 public:
  std::int64_t offer(RowSource& source);
  void withdraw(std::int64_t ticket);
  RowSource* find(std::int64_t ticket);  // nullptr where nothing is offered under it

 private:
  std::mutex mutex_;
  std::int64_t next_ticket_ = 1;
  std::map<std::int64_t, RowSource*> sources_;
};

inline constexpr char kRowFunction[] = "fathom_rows";

// Makes kRowFunction known to the database; it shares the ownership of `sources`.
Status register_row_function(const DuckdbApi& api, duckdb_connection connection,
                             const std::shared_ptr<RowSources>& sources);

}  // namespace fathom::sql
