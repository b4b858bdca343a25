// SPDX-License-Identifier: MIT
// Keeps numbers of batches as ranges, so that a client that sends in order needs one row. The index
// is on the range's end: one seek finds the range that may hold a number.
#include "fleet/sqlite/sqlite_sent.h"

#include <utility>

namespace fathom::fleet {

Result<std::unique_ptr<SqliteSent>> SqliteSent::make(const Database& database) {
  const auto prepare = [&](const char* sql) { return Statement::prepare(database, sql); };
  FATHOM_ASSIGN(Statement next,
                prepare("SELECT first, last FROM sent WHERE job = ? AND kind = ? AND client = ? "
                        "AND last >= ? ORDER BY last LIMIT 1"));
  FATHOM_ASSIGN(Statement ending, prepare("SELECT first FROM sent WHERE job = ? AND kind = ? "
                                          "AND client = ? AND last = ?"));
  FATHOM_ASSIGN(Statement remove, prepare("DELETE FROM sent WHERE job = ? AND kind = ? AND "
                                          "client = ? AND last = ?"));
  FATHOM_ASSIGN(Statement insert, prepare("INSERT INTO sent (job, kind, client, last, first) "
                                          "VALUES (?, ?, ?, ?, ?)"));
  return std::unique_ptr<SqliteSent>(
      new SqliteSent(std::move(next), std::move(ending), std::move(remove), std::move(insert)));
}

Result<bool> SqliteSent::has(std::int64_t job, const std::string& kind, const BatchId& id) {
  next_.bind(1, job).bind(2, kind).bind(3, id.client).bind(4, id.seq);
  FATHOM_ASSIGN(const bool found, next_.step());
  const bool is_in = found && next_.number(0) <= id.seq;
  next_.reset();
  return is_in;
}

// A range that ends right before the number, and one that begins right after it, become one.
Status SqliteSent::add(std::int64_t job, const std::string& kind, const BatchId& id) {
  SentRange range{kind, id.client, id.seq, id.seq};
  if (id.seq > 0) {
    ending_.bind(1, job).bind(2, kind).bind(3, id.client).bind(4, id.seq - 1);
    FATHOM_ASSIGN(const bool found, ending_.step());
    if (found) range.first = ending_.number(0);
    ending_.reset();
    if (found) FATHOM_TRY(remove(job, {kind, id.client, range.first, id.seq - 1}));
  }
  next_.bind(1, job).bind(2, kind).bind(3, id.client).bind(4, id.seq);
  FATHOM_ASSIGN(const bool follows, next_.step());
  const bool touches = follows && next_.number(0) - 1 == id.seq;
  if (touches) range.last = next_.number(1);
  next_.reset();
  if (touches) FATHOM_TRY(remove(job, range));
  return put(job, range);
}

Status SqliteSent::remove(std::int64_t job, const SentRange& range) {
  return remove_.bind(1, job).bind(2, range.kind).bind(3, range.client).bind(4, range.last).done();
}

Status SqliteSent::put(std::int64_t job, const SentRange& range) {
  insert_.bind(1, job).bind(2, range.kind).bind(3, range.client);
  return insert_.bind(4, range.last).bind(5, range.first).done();
}

}  // namespace fathom::fleet
