// SPDX-License-Identifier: MIT
// The one wrapper of SQLite: a connection and prepared statements, with errors as ours. One thread
// at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fathom::fleet {

// Owns the connection; its statements must go first.
class Database {
 public:
  // The file must be there, and nothing on the way to it a link. Waits `busy_ms` where another
  // process writes.
  static Result<std::unique_ptr<Database>> open(const std::string& path, int busy_ms);

  Status run(const char* sql);  // statements without an answer
  Result<std::int64_t> number(const char* sql);
  // After `number` of SQLite's: what it means for whoever asked.
  [[nodiscard]] Error error(int number) const;

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

// Bytes that are bound must live until the next reset().
class Statement {
 public:
  // The database must outlive it.
  static Result<Statement> prepare(const Database& database, const char* sql);

  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, std::string_view bytes);
  Result<bool> step();  // true: a row
  Status done();        // step() of one that gives no row, then reset()
  void reset();

  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::string_view bytes(int column) const;  // until the next step()

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;  // the first bind() that failed
};

}  // namespace fathom::fleet
