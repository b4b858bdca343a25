// SPDX-License-Identifier: MIT
// What a recording says of its run when the program has ended: sums, programs that the library
// could not enter, layers without events, and what recording cost.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "session/run/prepared.h"
#include "trace/recording/packer.h"

namespace fathom::session {

// The manifest is written with it: packing may be interrupted, or be left to a later command.
Result<trace::Totals> sum_up(const Prepared& prepared, pid_t program, trace::Packer& packer);

}  // namespace fathom::session
