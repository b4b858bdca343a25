// SPDX-License-Identifier: MIT
// The chunks of the logs, each once, while a drainer appends to the last of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "trace/decode/decoder.h"
#include "trace/spool/drainer.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

class LogFollower {
 public:
  // From log `first` on. The spool must outlive this.
  LogFollower(Spool& spool, std::uint64_t first) : spool_(&spool), at_{first, 0} {}

  // Those before `end` that were not visited yet, of one log at a time. A log that is not there was
  // somebody else's.
  Status follow(LogEnd end, const std::function<Status(std::span<const Chunk>)>& visit);
  // All before it was visited.
  [[nodiscard]] LogEnd position() const { return at_; }

 private:
  Spool* spool_;
  LogEnd at_;
};

}  // namespace fathom::trace
