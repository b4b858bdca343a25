// SPDX-License-Identifier: MIT
// A batch of a profile as what the script add_profile is given: rows of the same counter added up,
// those of a node together, cut into parts that fit into a command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model.h"
#include "fleet/redis/redis_keys.h"

namespace fathom::fleet {

// One call of the script.
struct RedisPart {
  std::vector<std::string> keys;  // of nodes
  std::vector<std::string> words;
};

// The sum of all counts, or the largest number where it is beyond that.
[[nodiscard]] std::string total_of(const ProfileBatch& batch);

// At least one part. kInvalid: a sum within the batch is too large. `most`: words in a part.
Result<std::vector<RedisPart>> parts_of(const ProfileBatch& batch, const RedisKeys& keys,
                                        std::size_t most);

}  // namespace fathom::fleet
