// SPDX-License-Identifier: MIT
// A SQLite store as a file: made for this user alone, with the tables that docs/formats/jobs.md
// describes. Names are BLOBs: SQLite compares texts up to a zero byte and converts what it takes
// for another encoding, and a name that changes on its way is another counter.
#include "fleet/sqlite/sqlite_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/files.h"
#include "base/os_error.h"

namespace fathom::fleet {
namespace {

constexpr std::int64_t kApplication = 0x4674686d;  // "Fthm"
constexpr std::int64_t kVersion = 1;

constexpr const char* kTables = R"(
CREATE TABLE jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL UNIQUE,
                   info BLOB NOT NULL, counters INTEGER NOT NULL DEFAULT 0);
CREATE TABLE counters (job INTEGER NOT NULL, node BLOB NOT NULL, exec BLOB NOT NULL,
                       event BLOB NOT NULL, slot INTEGER NOT NULL,
                       PRIMARY KEY (job, node, exec, event)) WITHOUT ROWID;
CREATE TABLE sums (job INTEGER NOT NULL, block INTEGER NOT NULL, counts BLOB NOT NULL,
                   PRIMARY KEY (job, block)) WITHOUT ROWID;
CREATE TABLE records (job INTEGER NOT NULL, kind BLOB NOT NULL, number INTEGER NOT NULL,
                      json BLOB NOT NULL, PRIMARY KEY (job, kind, number)) WITHOUT ROWID;
CREATE TABLE kinds (name BLOB PRIMARY KEY, schema BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE sent (job INTEGER NOT NULL, kind BLOB NOT NULL, client BLOB NOT NULL,
                   last INTEGER NOT NULL, first INTEGER NOT NULL,
                   PRIMARY KEY (job, kind, client, last)) WITHOUT ROWID;
PRAGMA application_id = 0x4674686d;
PRAGMA user_version = 1;
)";

Error not_ours(const std::string& path) {
  return {Code::kDenied, path + " is not a regular file of this user", "give another file"};
}

// SQLite must not be given a descriptor of ours: closing one would drop the locks of every other
// connection of this process. So a file that is there is only looked at.
Status make_file(const std::string& path) {
  const Fd made(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t{0600}));
  if (!made.valid() && errno != EEXIST) return os_error(errno, "make " + path);
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return os_error(errno, "stat " + path);
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || facts.st_nlink != 1)
    return not_ours(path);
  return {};
}

Result<std::string> path_without_links(const std::string& path) {
  FATHOM_ASSIGN(const std::string folder, real_path(std::string(dir_name(path))));
  return join_path(folder, base_name(path));
}

// SQLite does not wait by itself when two processes make the switch at the same time.
// WAL, so that whoever reads does not wait for whoever writes, and a commit writes in one place.
Status use_wal(Database& database, int busy_ms) {
  constexpr std::chrono::milliseconds kPause{10};
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_ms);
  for (;;) {
    Status done = database.run("PRAGMA journal_mode = WAL");
    if (done || done.error().code != Code::kUnavailable) return done;
    if (std::chrono::steady_clock::now() >= until) return done;
    std::this_thread::sleep_for(kPause);
  }
}

// Within a transaction: of several processes the first makes the tables.
Status make_tables(Database& database, const std::string& path) {
  FATHOM_ASSIGN(const std::int64_t version, database.number("PRAGMA user_version"));
  FATHOM_ASSIGN(const std::int64_t application, database.number("PRAGMA application_id"));
  FATHOM_ASSIGN(const std::int64_t tables, database.number("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && tables == 0) return database.run(kTables);
  if (application != kApplication)
    return Error{Code::kInvalid, path + " is a database of another program", "give another file"};
  if (version > kVersion)
    return Error{Code::kUnsupported,
                 path + " was written by a newer Fathom (version " + std::to_string(version) +
                     " of its tables; this one knows " + std::to_string(kVersion) + ")",
                 "use that Fathom, or another file"};
  return {};
}

Status prepare_file(Database& database, const std::string& path, int busy_ms) {
  FATHOM_TRY(use_wal(database, busy_ms));
  FATHOM_TRY(database.run("BEGIN IMMEDIATE"));
  Status made = make_tables(database, path);
  if (!made) {
    (void)database.run("ROLLBACK");
    return made;
  }
  return database.run("COMMIT");
}

}  // namespace

Result<SqliteFile> SqliteFile::open(const std::string& given, int busy_ms) {
  FATHOM_ASSIGN(const std::string path, path_without_links(given));
  FATHOM_TRY(make_file(path));
  SqliteFile file(path, busy_ms);
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return os_error(errno, "stat " + path);
  file.device_ = facts.st_dev;
  file.inode_ = facts.st_ino;
  FATHOM_ASSIGN(const std::unique_ptr<Database> database, file.connect());
  FATHOM_TRY(prepare_file(*database, path, busy_ms));
  return file;
}

Result<std::unique_ptr<Database>> SqliteFile::connect() const {
  FATHOM_ASSIGN(std::unique_ptr<Database> database, Database::open(path_, busy_ms_));
  // FULL: a commit returns when the disk has it. Checkpoints keep the journal short.
  FATHOM_TRY(
      database->run("PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216;"
                    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384"));
  return database;
}

Status SqliteFile::check() const {
  struct stat facts {};
  if (::lstat(path_.c_str(), &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_)
    return {};
  return Error{Code::kUnavailable, path_ + " was moved or removed while it was open",
               "bring it back, or start again"};
}

}  // namespace fathom::fleet
