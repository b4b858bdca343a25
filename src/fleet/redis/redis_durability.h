// SPDX-License-Identifier: MIT
// Whether a Redis keeps what it has acknowledged.
#pragma once

#include "base/result.h"
#include "fleet/redis/redis_link.h"

namespace fathom::fleet {

struct RedisNature {
  bool is_cluster = false;
};

// kUnsupported where an acknowledged batch can be lost: no append-only file, one that is written
// later than the answer, keys that are evicted; `may_forget` accepts that.
Result<RedisNature> check_redis(RedisLink& link, bool may_forget);

}  // namespace fathom::fleet
