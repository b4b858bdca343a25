// SPDX-License-Identifier: MIT
// The one place where statements of ours and of strangers enter DuckDB. Strangers' SQL goes through
// select_guard.cc first.
#include "sql/connection.h"

#include <iterator>
#include <utility>

#include "sql/engine_error.h"
#include "sql/quote.h"
#include "sql/state.h"
#include "sql/statement.h"

namespace fathom::sql {

namespace {

// Collects streamed rows into one table.
OnRows into(Table& table) {
  return [&table](const Table& rows) -> Status {
    if (table.columns.empty()) table.columns = rows.columns;
    table.rows.insert(table.rows.end(), rows.rows.begin(), rows.rows.end());
    return {};
  };
}

Result<std::shared_ptr<ConnectionState>> connect(const std::shared_ptr<DatabaseState>& database) {
  auto state = std::make_shared<ConnectionState>(database);
  if (state->api.connect(database->handle, &state->handle) != DuckDBSuccess) {
    return Error{Code::kIo, "DuckDB gives no connection", ""};
  }
  return state;
}

}  // namespace

Connection::Connection(std::shared_ptr<ConnectionState> state) : state_(std::move(state)) {}
Connection::Connection(Connection&& other) noexcept = default;
Connection& Connection::operator=(Connection&& other) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const Database& database) {
  FATHOM_ASSIGN(auto state, connect(database.state_));
  return Connection(std::move(state));
}

Result<Connection> Connection::another() const {
  FATHOM_ASSIGN(auto state, connect(state_->database));
  return Connection(std::move(state));
}

void Interrupter::interrupt() const {
  if (const auto state = state_.lock()) state->api.interrupt(state->handle);
}

void Connection::keep(std::shared_ptr<const void> needed) {
  state_->database->kept.push_back(std::move(needed));
}

Status Connection::execute(const std::string& sql) {
  duckdb_result result{};
  Status status;
  if (state_->api.query(state_->handle, sql.c_str(), &result) != DuckDBSuccess) {
    const char* text = state_->api.result_error(&result);
    status = engine_error(text != nullptr ? text : "");
  }
  state_->api.destroy_result(&result);
  return status;
}

Status Connection::stream(const std::string& sql, const OnRows& on_rows,
                          const Parameters& parameters) {
  FATHOM_ASSIGN(Statement statement, Statement::prepare(state_->api, state_->handle, sql));
  return statement.run(parameters, on_rows);
}

Status Connection::stream_chunks(const std::string& sql, const OnChunk& on_chunk) {
  FATHOM_ASSIGN(Statement statement, Statement::prepare(state_->api, state_->handle, sql));
  FATHOM_TRY(statement.bind({}));
  ResultSet rows(state_->api);
  FATHOM_TRY(statement.execute(rows));
  return rows.each_chunk(on_chunk);
}

// By the parser alone: nothing of the statement is bound or run.
std::vector<std::string> Connection::table_names(const std::string& sql) {
  std::vector<std::string> names;
  const Result<Table> found =
      query("SELECT lower(unnest(json_serialize_sql($1::VARCHAR)::JSON->>'$..table_name'))", {sql});
  if (!found) return names;
  for (const auto& row : found->rows) {
    if (const auto* name = std::get_if<std::string>(&row[0].data)) names.push_back(*name);
  }
  return names;
}

Status Connection::stream_untrusted(const std::string& sql, const OnRows& on_rows,
                                    const Parameters& parameters) {
  FATHOM_ASSIGN(Statement statement, Statement::prepare_select(state_->api, state_->handle, sql));
  return statement.run(parameters, on_rows);
}

Result<Table> Connection::query(const std::string& sql, const Parameters& parameters) {
  Table table;
  FATHOM_TRY(stream(sql, into(table), parameters));
  return table;
}

Result<Table> Connection::query_untrusted(const std::string& sql, const Parameters& parameters) {
  Table table;
  FATHOM_TRY(stream_untrusted(sql, into(table), parameters));
  return table;
}

// DuckDB reads files by name from any statement: without this a view over a recording would be a
// way to every file of this user.
Status Connection::lock_down(std::span<const std::string> directories,
                             std::span<const std::string> files) {
  // The order matters: a setting is fixed by the ones behind it.
  FATHOM_TRY(execute("SET allowed_paths = " + quote_list(files)));
  FATHOM_TRY(execute("SET allowed_directories = " + quote_list(directories)));
  FATHOM_TRY(execute("SET autoinstall_known_extensions = false"));
  FATHOM_TRY(execute("SET autoload_known_extensions = false"));
  FATHOM_TRY(execute("SET allow_community_extensions = false"));
  FATHOM_TRY(execute("SET enable_external_access = false"));
  return execute("SET lock_configuration = true");
}

Status Connection::with_rows(RowSource& source,
                             const std::function<Status(const std::string& from)>& use) {
  RowSources& sources = *state_->database->sources;
  const std::int64_t ticket = sources.offer(source);
  Status used = use(std::string(kRowFunction) + "(" + std::to_string(ticket) + ")");
  sources.withdraw(ticket);
  if (!used && source.failure()) return *source.failure();
  return used;
}

}  // namespace fathom::sql
