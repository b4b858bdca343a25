// SPDX-License-Identifier: MIT
// A connection to a Database: statements go in, tables come out. One thread at a time; a second
// thread connects anew.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "sql/chunk.h"
#include "sql/database.h"

namespace fathom::sql {

class ConnectionState;
class RowSource;

// Values of $1, $2, … or ? in their order: NULL, boolean, integer, double or text.
using Parameters = std::vector<Value>;

// Takes a few thousand rows of a result at a time. Called at least once, so that the columns are
// known even when there is no row. An error ends the query. Must not use the connection that is
// streaming.
using OnRows = std::function<Status(const Table& rows)>;

// Ends whatever a connection is doing, from any thread; that fails then. Does nothing once the
// connection is gone.
class Interrupter {
 public:
  explicit Interrupter(std::weak_ptr<ConnectionState> state) : state_(std::move(state)) {}
  void interrupt() const;

 private:
  std::weak_ptr<ConnectionState> state_;
};

// Owns its end of the database, which goes with the last of them. Moved, not copied. Another thread
// may use the interrupter() alone.
class Connection {
 public:
  static Result<Connection> open(const Database& database);
  // Another one to the same database, without this one's temporary views.
  [[nodiscard]] Result<Connection> another() const;
  [[nodiscard]] Interrupter interrupter() const { return Interrupter(state_); }
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  // What the database needs to be there: it goes when the last connection has gone.
  void keep(std::shared_ptr<const void> needed);

  // One or more statements of ours; what they return is dropped.
  Status execute(const std::string& sql);

  // One statement of ours. Integers are exact: int64, else uint64, else text; DECIMAL likewise
  // double or text. LIST becomes List, MAP and STRUCT Object, BLOB text with \xNN, ENUM its text,
  // times and UUIDs their text.
  Result<Table> query(const std::string& sql, const Parameters& parameters = {});
  Status stream(const std::string& sql, const OnRows& on_rows, const Parameters& parameters = {});

  // The same for passes over very many rows.
  Status stream_chunks(const std::string& sql, const OnChunk& on_chunk);

  // The tables and views that somebody else's statement names, in lower case and without those
  // behind a view; none where it is no query.
  std::vector<std::string> table_names(const std::string& sql);

  // One statement of somebody else's: refused unless it only selects. Safe after lock_down() only.
  Result<Table> query_untrusted(const std::string& sql, const Parameters& parameters = {});
  Status stream_untrusted(const std::string& sql, const OnRows& on_rows,
                          const Parameters& parameters = {});

  // Closes the whole database, for good, against files outside these directories, against
  // extensions and against changes of settings. Build the views first. Directories may be read and
  // written: statements are checked as well.
  Status lock_down(std::span<const std::string> directories,
                   std::span<const std::string> files = {});

  // The rows of a source while `use` runs: it gets the SQL of a table expression to put behind
  // FROM. See columns.h.
  Status with_rows(RowSource& source, const std::function<Status(const std::string& from)>& use);

 private:
  friend class Cursor;
  explicit Connection(std::shared_ptr<ConnectionState> state);
  std::shared_ptr<ConnectionState> state_;
};

}  // namespace fathom::sql
