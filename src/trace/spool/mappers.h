// SPDX-License-Identifier: MIT
// Who still has a run mapped. A child that was forked and has not run since owns no segment and has
// written nothing, but it will.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "trace/spool/spool.h"

namespace fathom::trace {

// Whether a process of this user other than this one and those of `but` maps the run's header, as
// every process that records does until it ends or becomes another program. Processes whose memory
// map may not be read are not seen.
[[nodiscard]] bool is_mapped_by_others(const Spool& spool, const std::set<std::int64_t>& but = {},
                                       const std::string& proc = "/proc");

}  // namespace fathom::trace
