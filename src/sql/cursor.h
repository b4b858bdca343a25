// SPDX-License-Identifier: MIT
// A query of somebody else's whose rows are taken when they are wanted. It has a connection of its
// own: several can be open at a time, and each may be used by another thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "sql/connection.h"

struct ArrowArrayStream;

namespace fathom::sql {

class CursorState;

// Owns its connection and the query, which goes with it. One thread at a time, not always the same.
class Cursor {
 public:
  // Refused unless the statement only selects. Safe on a database that is locked down
  // (Connection::lock_down). Nothing runs before rows are taken.
  static Result<Cursor> open(Connection connection, const std::string& sql,
                             const Parameters& parameters = {});
  Cursor(Cursor&& other) noexcept;
  Cursor& operator=(Cursor&& other) noexcept;
  ~Cursor();

  // A query with parameters has to run for it: what its columns are may depend on them.
  Result<std::vector<std::string>> columns();

  // The next few thousand rows, with the columns; no row at the end. Values are those of
  // Connection::query.
  Result<Table> next();

  // Ends the query; also when an Arrow stream has it.
  [[nodiscard]] Interrupter interrupter() const;

  // All rows as batches of Arrow columns, made while they are taken. The stream takes the cursor's
  // place: it owns the query, and its errors are one line, with the hint behind a semicolon.
  static void into_arrow(Cursor cursor, ArrowArrayStream& out);

 private:
  explicit Cursor(std::unique_ptr<CursorState> state);
  std::unique_ptr<CursorState> state_;
};

}  // namespace fathom::sql
