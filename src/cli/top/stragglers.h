// SPDX-License-Identifier: MIT
// Who holds the others up. Processes that run the same program are compared with the one in the
// middle: at least three of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/live/activity.h"

namespace fathom::cli::top {

// By pid, in words: it works while the others wait, or works as they do and gets less done.
[[nodiscard]] std::map<std::int64_t, std::string> find_stragglers(
    const analysis::Activity& activity);

}  // namespace fathom::cli::top
