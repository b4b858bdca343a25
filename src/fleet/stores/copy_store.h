// SPDX-License-Identifier: MIT
// All of one store into another: SQLite to Redis and back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/store.h"

namespace fathom::fleet {

struct Copied {
  std::int64_t jobs = 0;
  std::int64_t rows = 0;
  std::int64_t records = 0;
};

// Which jobs, and who hears of each.
struct CopyOptions {
  std::vector<std::string> jobs;                               // names; empty: all
  std::function<void(const std::string& job)> tell = nullptr;  // before each
};

// Jobs with their sums, records of all kinds, and the numbers of batches that they have got:
// whoever sends again to the new store counts once. Nobody may write to either store meanwhile.
// kExists: a job of that name is there already; nothing is copied then. A job that could not be
// copied whole is removed again.
Result<Copied> copy_store(JobStore& from, JobStore& to, const CopyOptions& options = {});

}  // namespace fathom::fleet
