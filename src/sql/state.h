// SPDX-License-Identifier: MIT
// What stands behind Database and Connection. Included by .cc files of this room only.
#pragma once

#include <memory>
#include <vector>

#include "base/scratch.h"
#include "sql/duckdb_api.h"
#include "sql/row_source.h"

namespace fathom::sql {

// Shared by handles and connections in any thread; closed with the last of them.
class DatabaseState {
 public:
  explicit DatabaseState(const DuckdbApi& functions) : api(functions) {}
  ~DatabaseState() { api.close(&handle); }  // `kept` goes after that
  DatabaseState(const DatabaseState&) = delete;
  DatabaseState& operator=(const DatabaseState&) = delete;

  const DuckdbApi& api;
  duckdb_database handle = nullptr;
  ScratchDirectory temporary;  // where it spills; goes after the handle is closed
  const std::shared_ptr<RowSources> sources = std::make_shared<RowSources>();
  std::vector<std::shared_ptr<const void>> kept;
};

// One thread at a time, but for interrupting. Keeps its database open.
class ConnectionState {
 public:
  explicit ConnectionState(std::shared_ptr<DatabaseState> of)
      : database(std::move(of)), api(database->api) {}
  ~ConnectionState() { api.disconnect(&handle); }
  ConnectionState(const ConnectionState&) = delete;
  ConnectionState& operator=(const ConnectionState&) = delete;

  const std::shared_ptr<DatabaseState> database;
  const DuckdbApi& api;
  duckdb_connection handle = nullptr;
};

}  // namespace fathom::sql
