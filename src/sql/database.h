// SPDX-License-Identifier: MIT
// An in-memory DuckDB database. Recordings are read by views over their Parquet files; nothing of
// ours is stored in DuckDB's own format.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace fathom::sql {

class DatabaseState;

// Settings that hold for the whole database, from its beginning.
struct DatabaseOptions {
  int threads = 0;                  // 0: as many as the machine has
  std::string memory_limit = {};    // "2GB"; empty: DuckDB's own default
  bool any_order = false;           // rows may change places: what is large takes less memory
  std::string temp_directory = {};  // where large sorts may spill; empty: they may not
};

// A handle; copies share the database, which lives as long as any handle or connection. May be
// shared by threads.
class Database {
 public:
  // Loads DuckDB if this is the first use of it in the process.
  static Result<Database> open_memory(const DatabaseOptions& options = {});

 private:
  friend class Connection;
  explicit Database(std::shared_ptr<DatabaseState> state) : state_(std::move(state)) {}
  std::shared_ptr<DatabaseState> state_;
};

// "v1.5.5", for doctor and info. Loads DuckDB.
Result<std::string> engine_version();

}  // namespace fathom::sql
