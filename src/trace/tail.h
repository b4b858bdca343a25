// SPDX-License-Identifier: MIT
// The tail of a recording: a snapshot of the spool decoded in memory. Included by .cc files of this
// room only.
#pragma once

#include <memory>

#include "trace/recording.h"
#include "trace/spool.h"

namespace fathom::trace {

struct TailFacts {
  std::map<std::string, std::int64_t> events_by_layer;
  std::vector<Loss> losses;
  std::vector<NotCovered> not_covered;
  bool owners_alive = false;
};

// The caller holds publish.lock shared.
Result<std::unique_ptr<Tail>> read_tail(Spool& spool, const Manifest& manifest,
                                        const DecoderOptions& options,
                                        const std::vector<std::uint64_t>& replaced_logs,
                                        TailFacts& facts);

}  // namespace fathom::trace
