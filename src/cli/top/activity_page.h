// SPDX-License-Identifier: MIT
// A look at a recording into a page: of all processes, or of one.
#pragma once

#include <string>

#include "analysis/live/activity.h"
#include "cli/top/page.h"

namespace fathom::cli::top {

// `inside` is a pid, "" for all. `name` is what the user calls the recording.
[[nodiscard]] Page activity_page(const analysis::Activity& activity, const std::string& name,
                                 const std::string& inside);

}  // namespace fathom::cli::top
