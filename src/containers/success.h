// SPDX-License-Identifier: MIT
// Whether a run was a success, as its instructions understand it.
#pragma once

#include <string>

#include "base/result.h"
#include "containers/instructions.h"

namespace fathom::containers {

// Why not, in words; "": it was. `out`: the file that holds what it wrote to stdout.
Result<std::string> failure_of(const SuccessCheck& check, int exit, bool timed_out,
                               const std::string& out);

}  // namespace fathom::containers
