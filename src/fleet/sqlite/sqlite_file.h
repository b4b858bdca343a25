// SPDX-License-Identifier: MIT
// The file of a SQLite store: made for this user alone, with its tables, opened by any number of
// processes.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "fleet/sqlite/sqlite_db.h"

namespace fathom::fleet {

// Remembers which file it found, by device and inode: an open SQLite goes on writing to a file that
// was removed, and nobody would notice.
class SqliteFile {
 public:
  // Makes the file and its tables where they are missing. kUnsupported: a newer Fathom made it.
  static Result<SqliteFile> open(const std::string& path, int busy_ms);

  // Another connection to it.
  [[nodiscard]] Result<std::unique_ptr<Database>> connect() const;
  // kUnavailable where the path means another file by now, or none: what would be written there
  // would be lost.
  [[nodiscard]] Status check() const;

 private:
  SqliteFile(std::string path, int busy_ms) : path_(std::move(path)), busy_ms_(busy_ms) {}
  std::string path_;  // without links
  int busy_ms_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace fathom::fleet
