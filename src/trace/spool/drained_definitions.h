// SPDX-License-Identifier: MIT
// Definitions that have left their segments, as definitions.log keeps them. Rows that were drained
// before may need one that went into a later log.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trace/decode/decoder.h"
#include "trace/rows/lives.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

// Remembers how far it has read: one object for each decoder, one thread at a time.
class DrainedDefinitions {
 public:
  // Those since the last time; `log` is the drainer's definitions.log, nullptr where there is none.
  // Not while somebody appends. Processes that were seen from outside lie there, too.
  Status into(Decoder& decoder, const File* log, Lives* seen = nullptr);

 private:
  std::uint64_t read_ = 0;  // bytes
};

}  // namespace fathom::trace
