// SPDX-License-Identifier: MIT
// Settings that every database of ours starts with: no extensions from the network, no cache of
// files, spilling only into a private directory.
#include "sql/database.h"

#include <utility>
#include <vector>

#include "sql/engine_error.h"
#include "sql/logical_type.h"
#include "sql/state.h"

namespace fathom::sql {

namespace {

// DuckDB's settings at start; freed with the scope.
class Config {
 public:
  explicit Config(const DuckdbApi& api) : api_(api) { api.create_config(&handle_); }
  ~Config() { api_.destroy_config(&handle_); }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  Status set(const std::string& name, const std::string& value) {
    if (api_.set_config(handle_, name.c_str(), value.c_str()) == DuckDBSuccess) return {};
    return Error{Code::kInvalid, "DuckDB does not accept " + name + " = '" + value + "'", ""};
  }
  [[nodiscard]] duckdb_config handle() const { return handle_; }

 private:
  const DuckdbApi& api_;
  duckdb_config handle_ = nullptr;
};

Status apply(const DatabaseOptions& options, const std::string& temporary, Config& config) {
  if (options.threads > 0) FATHOM_TRY(config.set("threads", std::to_string(options.threads)));
  if (!options.memory_limit.empty()) {
    FATHOM_TRY(config.set("memory_limit", options.memory_limit));
  }
  if (options.any_order) FATHOM_TRY(config.set("preserve_insertion_order", "false"));
  // Recordings are local: what the kernel caches anyway would grow this process with every file.
  FATHOM_TRY(config.set("enable_external_file_cache", "false"));
  // DuckDB's own default is .tmp in the user's directory; empty means none.
  FATHOM_TRY(config.set("temp_directory", temporary));
  FATHOM_TRY(config.set("autoinstall_known_extensions", "false"));
  return config.set("autoload_known_extensions", "false");
}

}  // namespace

Result<Database> Database::open_memory(const DatabaseOptions& options) {
  FATHOM_ASSIGN(const DuckdbApi* api, duckdb_api());
  auto state = std::make_shared<DatabaseState>(*api);
  // DuckDB would let everybody read what it spills. Where no directory can be made, nothing spills.
  if (!options.temp_directory.empty()) {
    Result<ScratchDirectory> made = ScratchDirectory::make(options.temp_directory);
    if (made) state->temporary = std::move(made).value();
  }
  Config config(*api);
  FATHOM_TRY(apply(options, state->temporary.path(), config));

  char* reason = nullptr;
  if (api->open_ext(":memory:", &state->handle, config.handle(), &reason) != DuckDBSuccess) {
    return engine_error(take_text(*api, reason)).with("open DuckDB");
  }
  ConnectionState connection(state);
  if (api->connect(state->handle, &connection.handle) != DuckDBSuccess) {
    return Error{Code::kIo, "DuckDB gives no connection", ""};
  }
  FATHOM_TRY(register_row_function(*api, connection.handle, state->sources));
  return Database(std::move(state));
}

Result<std::string> engine_version() {
  FATHOM_ASSIGN(const DuckdbApi* api, duckdb_api());
  return std::string(api->library_version());
}

}  // namespace fathom::sql
