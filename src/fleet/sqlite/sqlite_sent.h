// SPDX-License-Identifier: MIT
// Which batches a job in a SQLite file has got: ranges of numbers for each client, since clients
// count on; a number that comes out of order is a range of its own until the gap closes.
//
// For the one thread that holds the transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "fleet/model.h"
#include "fleet/sqlite/sqlite_db.h"

namespace fathom::fleet {

// Owns its statements; the database must outlive it. Its changes belong to the transaction that is
// open, and go with it.
class SqliteSent {
 public:
  static Result<std::unique_ptr<SqliteSent>> make(const Database& database);

  Result<bool> has(std::int64_t job, const std::string& kind, const BatchId& id);
  // One that it has not.
  Status add(std::int64_t job, const std::string& kind, const BatchId& id);
  Status put(std::int64_t job, const SentRange& range);

 private:
  SqliteSent(Statement next, Statement ending, Statement remove, Statement insert)
      : next_(std::move(next)),
        ending_(std::move(ending)),
        remove_(std::move(remove)),
        insert_(std::move(insert)) {}
  Status remove(std::int64_t job, const SentRange& range);

  Statement next_, ending_, remove_, insert_;
};

}  // namespace fathom::fleet
