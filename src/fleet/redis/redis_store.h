// SPDX-License-Identifier: MIT
// Jobs in a Redis or a Redis Cluster, which several servers may share. Batches are scripts, so each
// happens whole and once; one is acknowledged when Redis has it on its disk (redis_durability.h).
// A profile is read in pages: while batches arrive, two pages may show different moments.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "fleet/redis/redis_target.h"
#include "fleet/store.h"

namespace fathom::fleet {

struct RedisOptions {
  bool may_forget = false;              // accept a Redis that may lose what it has acknowledged
  std::size_t words_in_part = 100'000;  // of a batch that one script is given
};

// kUnavailable: nobody answers there; kUnsupported: it may forget; kDenied, kInvalid.
Result<std::unique_ptr<JobStore>> open_redis_store(const RedisTarget& target,
                                                   const RedisOptions& options = {});

}  // namespace fathom::fleet
