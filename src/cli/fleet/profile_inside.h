// SPDX-License-Identifier: MIT
// `fathom container inside`: what profiler.sh starts in an image that profiles itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

// Runs the command with probes, writes what it needs into FATHOM_PROFILE_OUTPUT, and gives the
// command's exit status. One that is stopped since FATHOM_PROFILE_SECONDS are over runs once more
// without probes.
Result<int> profile_inside(const std::vector<std::string>& command);

}  // namespace fathom::cli
