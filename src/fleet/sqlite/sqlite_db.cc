// SPDX-License-Identifier: MIT
// SQLite's numbers become Codes here and nowhere else. A Code decides what an agent does with its
// batch: kUnavailable and kFull are tried again later, kInvalid is set aside for ever. So whatever
// may pass must not look like something that cannot.
#include "fleet/sqlite/sqlite_db.h"

#include <sqlite3.h>

#include <cerrno>

namespace fathom::fleet {
namespace {

Code code_of_io(int system_errno) {
  return system_errno == ENOSPC || system_errno == EDQUOT ? Code::kFull : Code::kUnavailable;
}

// The low byte is the kind of the failure; READONLY_DBMOVED says that the file was moved away,
// which is not about rights.
Code code_of(int number, int system_errno) {
  switch (number & 0xff) {
    case SQLITE_FULL:
      return Code::kFull;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return code_of_io(system_errno);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Code::kCorrupt;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return number == SQLITE_READONLY_DBMOVED ? Code::kUnavailable : Code::kDenied;
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
      return Code::kInvalid;
    default:
      return Code::kUnavailable;  // busy, locked, no memory
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

// NOMUTEX: each connection has one thread at a time. PRIVATECACHE: connections of one process see
// each other's commits as those of another process do. The handle is taken over before the answer
// is looked at, since SQLite gives one for most failures, too.
Result<std::unique_ptr<Database>> Database::open(const std::string& path, int busy_ms) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
                    SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE;
  const int opened = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle, path));
  if (opened != SQLITE_OK) return database->error(opened);
  sqlite3_busy_timeout(handle, busy_ms);
  // The file may be a stranger's: it may not run functions or change SQLite's own tables.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return database;
}

Error Database::error(int number) const {
  const int system_errno = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  const Code code = code_of(number, system_errno);
  const char* text = sqlite3_errstr(number);
  if (code == Code::kFull) text = "the disk is full";
  return {code, path_ + ": " + text, code == Code::kFull ? "make room; then send it again" : ""};
}

Status Database::run(const char* sql) {
  const int number = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (number != SQLITE_OK) return error(number);
  return {};
}

Result<std::int64_t> Database::number(const char* sql) {
  FATHOM_ASSIGN(Statement statement, Statement::prepare(*this, sql));
  FATHOM_ASSIGN(const bool found, statement.step());
  return found ? statement.number(0) : std::int64_t{0};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<Statement> Statement::prepare(const Database& database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int number = sqlite3_prepare_v3(database.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
  if (number != SQLITE_OK) return database.error(number);
  return Statement(database, statement);
}

Statement& Statement::bind(int at, std::int64_t value) {
  const int number = sqlite3_bind_int64(statement_.get(), at, value);
  if (bound_ == SQLITE_OK) bound_ = number;
  return *this;
}

// Bytes, not text: a name may hold zeros, and is compared and sorted as it is.
Statement& Statement::bind(int at, std::string_view bytes) {
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  const int number = sqlite3_bind_blob64(statement_.get(), at, data, bytes.size(), SQLITE_STATIC);
  if (bound_ == SQLITE_OK) bound_ = number;
  return *this;
}

// A bind() that failed shows here, so that callers may chain them.
Result<bool> Statement::step() {
  const int number = bound_ != SQLITE_OK ? bound_ : sqlite3_step(statement_.get());
  if (number == SQLITE_ROW) return true;
  if (number == SQLITE_DONE) return false;
  const Error error = database_->error(number);
  reset();
  return error;
}

Status Statement::done() {
  FATHOM_TRY(step());
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  bound_ = SQLITE_OK;
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

}  // namespace fathom::fleet
