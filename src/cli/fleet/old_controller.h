// SPDX-License-Identifier: MIT
// profiling-controller: its --cmd words, on the jobs of a server.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

Result<int> run_old_controller(const std::vector<std::string>& words);

}  // namespace fathom::cli
