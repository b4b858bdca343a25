// SPDX-License-Identifier: MIT
// Prepares exactly one statement. SQL of strangers is split, judged (select_guard.cc) and only then
// prepared, and what was prepared must be a SELECT as well.
#include "sql/statement.h"

#include <utility>

#include "base/plural.h"
#include "sql/engine_error.h"
#include "sql/select_guard.h"

namespace fathom::sql {

namespace {

// The statements of a text, freed with the scope.
class Extracted {
 public:
  Extracted(const DuckdbApi& api, duckdb_connection connection, const std::string& sql)
      : api_(api), count_(api.extract_statements(connection, sql.c_str(), &handle_)) {}
  ~Extracted() { api_.destroy_extracted(&handle_); }
  Extracted(const Extracted&) = delete;
  Extracted& operator=(const Extracted&) = delete;

  [[nodiscard]] duckdb_extracted_statements handle() const { return handle_; }
  Status check() const;

 private:
  const DuckdbApi& api_;
  duckdb_extracted_statements handle_ = nullptr;
  idx_t count_;
};

Status Extracted::check() const {
  if (count_ == 1) return {};
  if (count_ > 1) {
    return Error{Code::kInvalid, "only one statement can be run at a time",
                 "run each by itself; PIVOT counts as one only with IN (…)"};
  }
  const char* reason = api_.extract_statements_error(handle_);
  if (reason != nullptr && *reason != '\0') return engine_error(reason);
  return Error{Code::kInvalid, "the query is empty", "try: SELECT * FROM events LIMIT 10"};
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}

Statement::~Statement() {
  if (handle_ != nullptr) api_->destroy_prepare(&handle_);
}

Error Statement::prepare_failure() const {
  const char* text = api_->prepare_error(handle_);
  return engine_error(text != nullptr ? text : "");
}

Result<Statement> Statement::prepare(const DuckdbApi& api, duckdb_connection connection,
                                     const std::string& sql) {
  Statement statement(api);
  if (api.prepare(connection, sql.c_str(), &statement.handle_) == DuckDBSuccess) return statement;
  return statement.prepare_failure();
}

Result<Statement> Statement::prepare_select(const DuckdbApi& api, duckdb_connection connection,
                                            const std::string& sql) {
  // C strings end at a NUL: what stands behind one would be neither checked nor run, and nobody
  // would say so.
  if (sql.find('\0') != std::string::npos) {
    return Error{Code::kInvalid, "the query contains a NUL character", ""};
  }
  const Extracted statements(api, connection, sql);
  FATHOM_TRY(statements.check());
  FATHOM_TRY(check_selects(api, connection, sql));
  Statement statement(api);
  if (api.prepare_extracted_statement(connection, statements.handle(), 0, &statement.handle_) !=
      DuckDBSuccess) {
    return statement.prepare_failure();
  }
  if (api.prepared_statement_type(statement.handle_) == DUCKDB_STATEMENT_TYPE_SELECT)
    return statement;
  return Error{Code::kDenied, "only queries that read are allowed", "begin with SELECT"};
}

Status Statement::bind(const Parameters& parameters) {
  const idx_t wanted = api_->nparams(handle_);
  if (wanted != parameters.size()) {
    return Error{Code::kInvalid,
                 "the query takes " + counted(wanted, "parameter") + ", but " +
                     std::to_string(parameters.size()) +
                     (parameters.size() == 1 ? " was given" : " were given"),
                 ""};
  }
  for (idx_t i = 0; i < wanted; ++i) {
    const auto& value = parameters[i].data;
    duckdb_state bound = DuckDBError;
    if (std::holds_alternative<std::monostate>(value)) {
      bound = api_->bind_null(handle_, i + 1);
    } else if (const auto* yes = std::get_if<bool>(&value)) {
      bound = api_->bind_boolean(handle_, i + 1, *yes);
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      bound = api_->bind_int64(handle_, i + 1, *number);
    } else if (const auto* large = std::get_if<std::uint64_t>(&value)) {
      bound = api_->bind_uint64(handle_, i + 1, *large);
    } else if (const auto* real = std::get_if<double>(&value)) {
      bound = api_->bind_double(handle_, i + 1, *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      bound = api_->bind_varchar_length(handle_, i + 1, text->data(), text->size());
    }
    if (bound != DuckDBSuccess) {
      return Error{Code::kInvalid, "parameter " + std::to_string(i + 1) + " cannot be used", ""};
    }
  }
  return {};
}

std::vector<std::string> Statement::columns() const {
  std::vector<std::string> names;
  const idx_t count = api_->prepared_statement_column_count(handle_);
  for (idx_t i = 0; i < count; ++i) {
    const char* name = api_->prepared_statement_column_name(handle_, i);
    names.push_back(take_text(*api_, const_cast<char*>(name)));
  }
  return names;
}

Status Statement::run(const Parameters& parameters, const OnRows& on_rows) {
  FATHOM_TRY(bind(parameters));
  ResultSet result(*api_);
  FATHOM_TRY(execute(result));
  Table rows;
  FATHOM_TRY(result.open_columns(rows));
  bool told = false;
  do {
    FATHOM_TRY(result.next(rows));
    if (told && rows.rows.empty()) break;
    told = true;
    FATHOM_TRY(on_rows(rows));
  } while (!rows.rows.empty());
  return {};
}

}  // namespace fathom::sql
