// SPDX-License-Identifier: MIT
// Changes go through GroupCommit to the writer; questions get a connection of their own, which sees
// the file as it was when the question began and holds up nobody.
#include "fleet/sqlite/sqlite_store.h"

#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "fleet/checks.h"
#include "fleet/sqlite/group_commit.h"
#include "fleet/sqlite/sqlite_db.h"
#include "fleet/sqlite/sqlite_file.h"
#include "fleet/sqlite/sqlite_sums.h"
#include "fleet/sqlite/sqlite_writer.h"

namespace fathom::fleet {
namespace {

// Connections for questions; as many as are asked at the same time, some kept for the next ones.
class Readers {
 public:
  explicit Readers(SqliteFile file) : file_(std::move(file)) {}

  // One transaction: a question sees one moment.
  template <class Question>
  Status ask(const Question& question) {
    FATHOM_TRY(file_.check());
    FATHOM_ASSIGN(std::unique_ptr<Database> database, take());
    FATHOM_TRY(database->run("BEGIN"));
    Status answer = question(*database);
    const Status ended = database->run("COMMIT");
    if (ended) put_back(std::move(database));
    return answer;
  }

 private:
  Result<std::unique_ptr<Database>> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return file_.connect();
    std::unique_ptr<Database> database = std::move(idle_.back());
    idle_.pop_back();
    return database;
  }
  void put_back(std::unique_ptr<Database> database) {
    constexpr std::size_t kKept = 4;
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kKept) idle_.push_back(std::move(database));
  }

  SqliteFile file_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Database>> idle_;
};

Result<std::int64_t> job_id(const Database& database, const std::string& name) {
  FATHOM_ASSIGN(Statement find, Statement::prepare(database, "SELECT id FROM jobs WHERE name = ?"));
  FATHOM_ASSIGN(const bool found, find.bind(1, name).step());
  if (!found) return no_such_job(name);
  return find.number(0);
}

// Records are numbered from 0 in their job, and only all of a kind are removed: the largest number
// tells how many there are, without counting them.
constexpr const char* kJobs =
    "SELECT name, info, (SELECT coalesce(max(number) + 1, 0) FROM records WHERE job = jobs.id AND "
    "kind = x'62656e63686d61726b') FROM jobs ";  // "benchmark"

Job job_of(const Statement& row) {
  return {std::string(row.bytes(0)), std::string(row.bytes(1)), row.number(2)};
}

// All blocks, one behind the other: a slot is a place in them.
Result<std::vector<std::int64_t>> sums_of(const Database& database, std::int64_t job) {
  FATHOM_ASSIGN(
      Statement read,
      Statement::prepare(database, "SELECT block, counts FROM sums WHERE job = ? ORDER BY block"));
  std::vector<std::int64_t> sums;
  read.bind(1, job);
  for (;;) {
    FATHOM_ASSIGN(const bool found, read.step());
    if (!found) return sums;
    const std::string_view bytes = read.bytes(1);
    const std::size_t before = sums.size();
    if (bytes.size() != sizeof(SumBlock) ||
        read.number(0) != static_cast<std::int64_t>(before / kSumsInBlock))
      return Error{Code::kCorrupt, "a block of sums in the store is damaged", ""};
    sums.resize(before + kSumsInBlock);
    std::memcpy(&sums[before], bytes.data(), bytes.size());
  }
}

// Any thread. A change returns when it is on the disk.
class SqliteStore final : public JobStore {
 public:
  SqliteStore(SqliteFile file, std::unique_ptr<SqliteWriter> writer)
      : readers_(std::move(file)), writer_(std::move(writer)), commits_(*writer_) {}

  Result<std::vector<Job>> jobs() override;
  Result<Job> job(const std::string& name) override;
  Status create(const Job& job) override {
    FATHOM_TRY(check_job_name(job.name));
    return commits_.run([&] { return writer_->create(job); });
  }
  Status remove(const std::string& job) override {
    return commits_.run([&] { return writer_->remove(job); });
  }
  Status add_profile(const std::string& job, const ProfileBatch& batch) override {
    FATHOM_TRY(check_batch(batch));
    return commits_.run([&] { return writer_->add_profile(job, batch); });
  }
  Status add_records(const std::string& job, const std::string& kind,
                     const RecordBatch& batch) override {
    FATHOM_TRY(check_batch(batch));
    return commits_.run([&] { return writer_->add_records(job, kind, batch); });
  }
  Status profile(const std::string& job, const TakesRow& take) override;
  Status records(const std::string& job, const std::string& kind, std::int64_t from,
                 const TakesRecord& take) override;
  Status clear_profile(const std::string& job) override {
    return commits_.run([&] { return writer_->clear_profile(job); });
  }
  Status clear_records(const std::string& job, const std::string& kind) override {
    return commits_.run([&] { return writer_->clear_records(job, kind); });
  }
  Result<std::vector<RecordKind>> kinds() override;
  Status add_kind(const RecordKind& kind) override {
    FATHOM_TRY(check_kind(kind));
    return commits_.run([&] { return writer_->add_kind(kind); });
  }
  Status sent(const std::string& job, const TakesSent& take) override;
  Status set_sent(const std::string& job, const std::vector<SentRange>& ranges) override {
    for (const SentRange& range : ranges) FATHOM_TRY(check_range(range));
    return commits_.run([&] { return writer_->set_sent(job, ranges); });
  }

 private:
  Readers readers_;
  std::unique_ptr<SqliteWriter> writer_;
  GroupCommit commits_;
};

Result<std::vector<Job>> SqliteStore::jobs() {
  std::vector<Job> jobs;
  FATHOM_TRY(readers_.ask([&](const Database& database) -> Status {
    FATHOM_ASSIGN(Statement read,
                  Statement::prepare(database, (std::string(kJobs) + "ORDER BY name").c_str()));
    for (;;) {
      FATHOM_ASSIGN(const bool found, read.step());
      if (!found) return {};
      jobs.push_back(job_of(read));
    }
  }));
  return jobs;
}

Result<Job> SqliteStore::job(const std::string& name) {
  Job job;
  FATHOM_TRY(readers_.ask([&](const Database& database) -> Status {
    FATHOM_ASSIGN(Statement read,
                  Statement::prepare(database, (std::string(kJobs) + "WHERE name = ?").c_str()));
    FATHOM_ASSIGN(const bool found, read.bind(1, name).step());
    if (!found) return no_such_job(name);
    job = job_of(read);
    return {};
  }));
  return job;
}

// Sums first, by themselves: joining them to their counters would read a block of 64 for each.
Status SqliteStore::profile(const std::string& job, const TakesRow& take) {
  return readers_.ask([&](const Database& database) -> Status {
    FATHOM_ASSIGN(const std::int64_t id, job_id(database, job));
    FATHOM_ASSIGN(const std::vector<std::int64_t> sums, sums_of(database, id));
    FATHOM_ASSIGN(Statement read, Statement::prepare(database,
                                                     "SELECT node, exec, event, slot FROM counters "
                                                     "WHERE job = ? ORDER BY node, exec, event"));
    read.bind(1, id);
    for (;;) {
      FATHOM_ASSIGN(const bool found, read.step());
      if (!found) return {};
      const auto slot = static_cast<std::size_t>(read.number(3));
      if (slot >= sums.size())
        return Error{Code::kCorrupt, "a counter in the store is damaged", ""};
      const ProfileRow row{std::string(read.bytes(0)), std::string(read.bytes(1)),
                           std::string(read.bytes(2)), sums[slot]};
      if (!take(row)) return {};
    }
  });
}

Status check_kind_exists(const Database& database, const std::string& kind) {
  if (kind == kBenchmarks) return {};
  FATHOM_ASSIGN(Statement find, Statement::prepare(database, "SELECT 1 FROM kinds WHERE name = ?"));
  FATHOM_ASSIGN(const bool found, find.bind(1, kind).step());
  if (!found) return no_such_kind(kind);
  return {};
}

Status SqliteStore::records(const std::string& job, const std::string& kind, std::int64_t from,
                            const TakesRecord& take) {
  return readers_.ask([&](const Database& database) -> Status {
    FATHOM_ASSIGN(const std::int64_t id, job_id(database, job));
    FATHOM_TRY(check_kind_exists(database, kind));
    FATHOM_ASSIGN(Statement read,
                  Statement::prepare(database,
                                     "SELECT number, json FROM records WHERE job = ? AND "
                                     "kind = ? AND number >= ? ORDER BY number"));
    read.bind(1, id).bind(2, kind).bind(3, from);
    for (;;) {
      FATHOM_ASSIGN(const bool found, read.step());
      if (!found || !take(read.number(0), std::string(read.bytes(1)))) return {};
    }
  });
}

Result<std::vector<RecordKind>> SqliteStore::kinds() {
  std::vector<RecordKind> kinds;
  FATHOM_TRY(readers_.ask([&](const Database& database) -> Status {
    FATHOM_ASSIGN(Statement read,
                  Statement::prepare(database, "SELECT name, schema FROM kinds ORDER BY name"));
    for (;;) {
      FATHOM_ASSIGN(const bool found, read.step());
      if (!found) return {};
      kinds.push_back({std::string(read.bytes(0)), std::string(read.bytes(1))});
    }
  }));
  return kinds;
}

Status SqliteStore::sent(const std::string& job, const TakesSent& take) {
  return readers_.ask([&](const Database& database) -> Status {
    FATHOM_ASSIGN(const std::int64_t id, job_id(database, job));
    FATHOM_ASSIGN(Statement read,
                  Statement::prepare(database,
                                     "SELECT kind, client, first, last FROM sent WHERE "
                                     "job = ? ORDER BY kind, client, last"));
    read.bind(1, id);
    for (;;) {
      FATHOM_ASSIGN(const bool found, read.step());
      if (!found) return {};
      const SentRange range{std::string(read.bytes(0)), std::string(read.bytes(1)), read.number(2),
                            read.number(3)};
      if (!take(range)) return {};
    }
  });
}

}  // namespace

Result<std::unique_ptr<JobStore>> open_sqlite_store(const std::string& path,
                                                    const SqliteOptions& options) {
  FATHOM_ASSIGN(SqliteFile file, SqliteFile::open(path, options.busy_ms));
  FATHOM_ASSIGN(std::unique_ptr<SqliteWriter> writer, SqliteWriter::make(file, options.remembered));
  return std::unique_ptr<JobStore>(new SqliteStore(std::move(file), std::move(writer)));
}

}  // namespace fathom::fleet
