// SPDX-License-Identifier: MIT
// Definitions that have left their segments, as definitions.log keeps them. Rows that were drained
// before may need one that went into a later log.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trace/batch.h"
#include "trace/decoder.h"
#include "trace/spool.h"

namespace fathom::trace {

class DrainedDefinitions {
 public:
  explicit DrainedDefinitions(const Spool& spool) : files_(spool.files()) {}
  // Those since the last time. Not while somebody appends.
  // Processes that were seen from outside lie there, too.
  Status into(Decoder& decoder, std::vector<ProcessRow>* processes = nullptr);

 private:
  Directory files_;
  std::uint64_t read_ = 0;  // bytes
};

}  // namespace fathom::trace
