// SPDX-License-Identifier: MIT
// All that changes a SQLite store, on the connection that writes. For the one thread that holds the
// transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/model.h"
#include "fleet/sqlite/group_commit.h"
#include "fleet/sqlite/sqlite_db.h"
#include "fleet/sqlite/sqlite_file.h"
#include "fleet/sqlite/sqlite_sent.h"
#include "fleet/sqlite/sqlite_sums.h"

namespace fathom::fleet {

// Owns the connection and what is remembered of the file. At begin() it asks SQLite whether another
// process has written meanwhile (its data_version), and forgets what it knew if so.
class SqliteWriter final : public Transaction {
 public:
  static Result<std::unique_ptr<SqliteWriter>> make(const SqliteFile& file, std::size_t remembered);

  Status begin() override;
  Status commit() override;
  void rollback() override;

  // Errors as GroupCommit wants them.
  Status create(const Job& job);
  Status remove(const std::string& job);
  Status add_profile(const std::string& job, const ProfileBatch& batch);
  Status add_records(const std::string& job, const std::string& kind, const RecordBatch& batch);
  Status clear_profile(const std::string& job);
  Status clear_records(const std::string& job, const std::string& kind);
  Status add_kind(const RecordKind& kind);
  Status set_sent(const std::string& job, const std::vector<SentRange>& ranges);

 private:
  explicit SqliteWriter(SqliteFile file, std::unique_ptr<Database> database)
      : file_(std::move(file)), database_(std::move(database)) {}
  Result<std::int64_t> job_id(const std::string& name);
  Status check_kind_exists(const std::string& kind);
  Status run(const char* sql, std::int64_t job);  // statements with `?1` for the job
  Result<std::int64_t> next_record(std::int64_t job, const std::string& kind);

  SqliteFile file_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<SqliteSums> sums_;
  std::unique_ptr<SqliteSent> sent_;
  std::unique_ptr<Statement> find_job_, insert_record_, version_;
  std::int64_t seen_version_ = -1;  // of SQLite's, changes when somebody else writes
};

}  // namespace fathom::fleet
