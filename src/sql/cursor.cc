// SPDX-License-Identifier: MIT
// Lets a caller pull rows, while Connection pushes them. The Arrow stream at the end owns the
// cursor, because Python frees it whenever it likes.
#include "sql/cursor.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "sql/arrow.h"
#include "sql/result_set.h"
#include "sql/state.h"
#include "sql/statement.h"

namespace fathom::sql {

// Members end in the reverse order: the rows before the statement before the connection.
class CursorState {
 public:
  CursorState(std::shared_ptr<ConnectionState> connection, Statement statement)
      : connection_(std::move(connection)),
        statement_(std::move(statement)),
        rows_(connection_->api) {}

  // What the columns are may depend on them: then only running tells.
  Status bind(const Parameters& parameters) {
    parameters_ = !parameters.empty();
    return statement_.bind(parameters);
  }

  [[nodiscard]] Interrupter interrupter() const { return Interrupter(connection_); }

  Result<std::vector<std::string>> columns() {
    if (!parameters_) return statement_.columns();
    FATHOM_ASSIGN(const ResultSet* rows, this->rows());
    return rows->column_names();
  }

  Result<ResultSet*> rows() {
    if (!begun_) FATHOM_TRY(statement_.execute(rows_));
    begun_ = true;
    return &rows_;
  }

  Result<Table> next() {
    FATHOM_ASSIGN(ResultSet * rows, this->rows());
    if (values_.columns.empty()) FATHOM_TRY(rows->open_columns(values_));
    FATHOM_TRY(rows->next(values_));
    Table taken{.title = {}, .columns = values_.columns, .rows = {}, .note = {}};
    std::swap(taken.rows, values_.rows);
    return taken;
  }

  std::string stream_error;  // what the last call of the Arrow stream failed with

 private:
  std::shared_ptr<ConnectionState> connection_;
  Statement statement_;
  ResultSet rows_;
  Table values_;
  bool parameters_ = false;
  bool begun_ = false;
};

namespace {

CursorState& state_of(ArrowArrayStream* stream) {
  return *static_cast<CursorState*>(stream->private_data);
}

// The stream's status: 0, or an errno with the words kept for get_last_error.
int told(CursorState& state, const Status& status) {
  if (status) return 0;
  const Error& error = status.error();
  state.stream_error = error.hint.empty() ? error.message : error.message + "; " + error.hint;
  return EIO;
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  CursorState& state = state_of(stream);
  const auto rows = state.rows();
  return told(state, rows ? (*rows)->arrow_schema(*out) : Status(rows.error()));
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  CursorState& state = state_of(stream);
  const auto rows = state.rows();
  return told(state, rows ? (*rows)->next_arrow(*out) : Status(rows.error()));
}

const char* stream_last_error(ArrowArrayStream* stream) {
  const std::string& text = state_of(stream).stream_error;
  return text.empty() ? nullptr : text.c_str();
}

void stream_release(ArrowArrayStream* stream) {
  const std::unique_ptr<CursorState> owned(&state_of(stream));
  stream->private_data = nullptr;
  stream->release = nullptr;
}

}  // namespace

Cursor::Cursor(std::unique_ptr<CursorState> state) : state_(std::move(state)) {}
Cursor::Cursor(Cursor&& other) noexcept = default;
Cursor& Cursor::operator=(Cursor&& other) noexcept = default;
Cursor::~Cursor() = default;

Result<Cursor> Cursor::open(Connection connection, const std::string& sql,
                            const Parameters& parameters) {
  std::shared_ptr<ConnectionState> own = std::move(connection.state_);
  FATHOM_ASSIGN(Statement statement, Statement::prepare_select(own->api, own->handle, sql));
  auto state = std::make_unique<CursorState>(std::move(own), std::move(statement));
  FATHOM_TRY(state->bind(parameters));
  return Cursor(std::move(state));
}

Result<std::vector<std::string>> Cursor::columns() { return state_->columns(); }
Interrupter Cursor::interrupter() const { return state_->interrupter(); }
Result<Table> Cursor::next() { return state_->next(); }

void Cursor::into_arrow(Cursor cursor, ArrowArrayStream& out) {
  out = {.get_schema = stream_schema,
         .get_next = stream_next,
         .get_last_error = stream_last_error,
         .release = stream_release,
         .private_data = cursor.state_.release()};
}

}  // namespace fathom::sql
