// SPDX-License-Identifier: MIT
// Prepares statements once and uses them for every batch. Sums in memory are forgotten when PRAGMA
// data_version says that another process has written.
#include "fleet/sqlite/sqlite_writer.h"

#include <utility>

#include "fleet/checks.h"

namespace fathom::fleet {
namespace {

Result<std::unique_ptr<Statement>> prepare(const Database& database, const char* sql) {
  FATHOM_ASSIGN(Statement statement, Statement::prepare(database, sql));
  return std::make_unique<Statement>(std::move(statement));
}

}  // namespace

Result<std::unique_ptr<SqliteWriter>> SqliteWriter::make(const SqliteFile& file,
                                                         std::size_t remembered) {
  FATHOM_ASSIGN(std::unique_ptr<Database> database, file.connect());
  std::unique_ptr<SqliteWriter> writer(new SqliteWriter(file, std::move(database)));
  const Database& at = *writer->database_;
  FATHOM_ASSIGN(writer->sums_, SqliteSums::make(at, remembered));
  FATHOM_ASSIGN(writer->sent_, SqliteSent::make(at));
  FATHOM_ASSIGN(writer->find_job_, prepare(at, "SELECT id FROM jobs WHERE name = ?"));
  FATHOM_ASSIGN(writer->insert_record_, prepare(at,
                                                "INSERT INTO records (job, kind, number, json) "
                                                "VALUES (?, ?, ?, ?)"));
  FATHOM_ASSIGN(writer->version_, prepare(at, "PRAGMA data_version"));
  return writer;
}

Status SqliteWriter::begin() {
  FATHOM_TRY(file_.check());
  FATHOM_TRY(database_->run("BEGIN IMMEDIATE"));
  const Result<bool> asked = version_->step();
  const std::int64_t version = asked ? version_->number(0) : -1;
  version_->reset();
  if (version != seen_version_ || version < 0) sums_->forget();
  seen_version_ = version;
  return {};
}

Status SqliteWriter::commit() {
  FATHOM_TRY(sums_->write());
  return database_->run("COMMIT");
}

// SQLite may have rolled back by itself; then this fails, and nothing is amiss.
void SqliteWriter::rollback() {
  sums_->forget();
  (void)database_->run("ROLLBACK");
}

Result<std::int64_t> SqliteWriter::job_id(const std::string& name) {
  FATHOM_ASSIGN(const bool found, find_job_->bind(1, name).step());
  const std::int64_t id = found ? find_job_->number(0) : 0;
  find_job_->reset();
  if (!found) return no_such_job(name);
  return id;
}

Status SqliteWriter::run(const char* sql, std::int64_t job) {
  FATHOM_ASSIGN(Statement statement, Statement::prepare(*database_, sql));
  return statement.bind(1, job).done();
}

Status SqliteWriter::create(const Job& job) {
  const Result<std::int64_t> there = job_id(job.name);
  if (there) return job_exists(job.name);
  if (there.error().code != Code::kNotFound) return there.error();
  FATHOM_ASSIGN(Statement insert,
                Statement::prepare(*database_, "INSERT INTO jobs (name, info) VALUES (?, ?)"));
  return insert.bind(1, job.name).bind(2, job.info).done();
}

Status SqliteWriter::remove(const std::string& job) {
  FATHOM_ASSIGN(const std::int64_t id, job_id(job));
  sums_->forget(id);
  for (const char* sql : {"DELETE FROM counters WHERE job = ?1", "DELETE FROM sums WHERE job = ?1",
                          "DELETE FROM records WHERE job = ?1", "DELETE FROM sent WHERE job = ?1",
                          "DELETE FROM jobs WHERE id = ?1"})
    FATHOM_TRY(run(sql, id));
  return {};
}

Status SqliteWriter::add_profile(const std::string& job, const ProfileBatch& batch) {
  FATHOM_ASSIGN(const std::int64_t id, job_id(job));
  FATHOM_ASSIGN(const bool is_known, sent_->has(id, "", batch.id));
  if (is_known) return {};
  FATHOM_TRY(sums_->add(id, batch.rows));
  return sent_->add(id, "", batch.id);
}

Result<std::int64_t> SqliteWriter::next_record(std::int64_t job, const std::string& kind) {
  FATHOM_ASSIGN(Statement last, Statement::prepare(*database_,
                                                   "SELECT coalesce(max(number) + 1, 0) FROM "
                                                   "records WHERE job = ? AND kind = ?"));
  FATHOM_TRY(last.bind(1, job).bind(2, kind).step());
  return last.number(0);
}

Status SqliteWriter::check_kind_exists(const std::string& kind) {
  if (kind == kBenchmarks) return {};
  FATHOM_ASSIGN(Statement find,
                Statement::prepare(*database_, "SELECT 1 FROM kinds WHERE name = ?"));
  FATHOM_ASSIGN(const bool found, find.bind(1, kind).step());
  if (!found) return no_such_kind(kind);
  return {};
}

Status SqliteWriter::add_records(const std::string& job, const std::string& kind,
                                 const RecordBatch& batch) {
  FATHOM_ASSIGN(const std::int64_t id, job_id(job));
  FATHOM_TRY(check_kind_exists(kind));
  FATHOM_ASSIGN(const bool is_known, sent_->has(id, kind, batch.id));
  if (is_known) return {};
  FATHOM_ASSIGN(std::int64_t number, next_record(id, kind));
  for (const std::string& record : batch.records) {
    insert_record_->bind(1, id).bind(2, kind).bind(3, number++).bind(4, record);
    FATHOM_TRY(insert_record_->done());
  }
  return sent_->add(id, kind, batch.id);
}

Status SqliteWriter::clear_profile(const std::string& job) {
  FATHOM_ASSIGN(const std::int64_t id, job_id(job));
  sums_->forget(id);
  for (const char* sql : {"DELETE FROM counters WHERE job = ?1", "DELETE FROM sums WHERE job = ?1",
                          "UPDATE jobs SET counters = 0 WHERE id = ?1"})
    FATHOM_TRY(run(sql, id));
  return {};
}

Status SqliteWriter::clear_records(const std::string& job, const std::string& kind) {
  FATHOM_ASSIGN(const std::int64_t id, job_id(job));
  FATHOM_TRY(check_kind_exists(kind));
  FATHOM_ASSIGN(Statement clear,
                Statement::prepare(*database_, "DELETE FROM records WHERE job = ? AND kind = ?"));
  return clear.bind(1, id).bind(2, kind).done();
}

Status SqliteWriter::add_kind(const RecordKind& kind) {
  FATHOM_ASSIGN(Statement find,
                Statement::prepare(*database_, "SELECT schema FROM kinds WHERE name = ?"));
  FATHOM_ASSIGN(const bool found, find.bind(1, kind.name).step());
  if (found && find.bytes(0) != kind.schema) return kind_differs(kind.name);
  if (found) return {};
  FATHOM_ASSIGN(Statement insert,
                Statement::prepare(*database_, "INSERT INTO kinds (name, schema) VALUES (?, ?)"));
  return insert.bind(1, kind.name).bind(2, kind.schema).done();
}

Status SqliteWriter::set_sent(const std::string& job, const std::vector<SentRange>& ranges) {
  FATHOM_ASSIGN(const std::int64_t id, job_id(job));
  FATHOM_TRY(run("DELETE FROM sent WHERE job = ?1", id));
  for (const SentRange& range : ranges) FATHOM_TRY(sent_->put(id, range));
  return {};
}

}  // namespace fathom::fleet
