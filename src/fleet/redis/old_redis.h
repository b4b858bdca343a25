// SPDX-License-Identifier: MIT
// A deployment of profiling-framework taken over: its main Redis (port 2000) has a hash for each
// job with `info`, `benchmark` and the records `0`, `1`, …; the Redis of a job, whose port is the
// job's number, has a hash for each node with `execname` and the sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/store.h"

namespace fathom::fleet {

struct OldImport {
  std::int64_t jobs = 0;
  std::int64_t rows = 0;  // sums of profiles
  std::int64_t records = 0;
  std::vector<std::string> trouble;  // sentences: what was left out, and why
};

// `address` is HOST:PORT, or a URL as for parse_redis_url. Nothing is written there. A job whose
// name is taken here is left as it is and told. An Error ends the import: jobs that were finished
// before it stay in the store.
Result<OldImport> import_old_redis(const std::string& address, JobStore& store);

}  // namespace fathom::fleet
