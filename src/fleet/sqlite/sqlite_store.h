// SPDX-License-Identifier: MIT
// Jobs in a SQLite file. Several processes may have it open; each writes through one connection,
// where batches of several threads share a transaction.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "fleet/store.h"

namespace fathom::fleet {

struct SqliteOptions {
  int busy_ms = 5000;  // how long another process's transaction is waited for
  std::size_t remembered = std::size_t{1} << 20U;  // counters whose place is kept in memory
};

// Makes the file where it is missing.
Result<std::unique_ptr<JobStore>> open_sqlite_store(const std::string& path,
                                                    const SqliteOptions& options = {});

}  // namespace fathom::fleet
