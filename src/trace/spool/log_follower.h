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

// One thread at a time; the drainer may be another one, or another process.
class LogFollower {
 public:
  // From log `first` on. The spool must outlive this.
  LogFollower(Spool& spool, std::uint64_t first) : spool_(&spool), at_{first, 0} {}

  // Visits those before `end` that were not visited yet, of one log at a time; the chunks are valid
  // during the visit. A log that is not there was somebody else's. Damaged entries are skipped. An
  // Error, of `visit` or of reading, leaves the position before that log: its chunks come again.
  Status follow(LogEnd end, const std::function<Status(std::span<const Chunk>)>& visit);
  // All before it was visited.
  [[nodiscard]] LogEnd position() const { return at_; }

 private:
  Spool* spool_;
  LogEnd at_;
};

}  // namespace fathom::trace
