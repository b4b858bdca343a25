// SPDX-License-Identifier: MIT
// What `fathom run` says when the program has ended: the shortest useful overview, and what to type
// next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analysis/insights/insights.h"
#include "session/run/run.h"

namespace fathom::cli {

// `width`: of the terminal, for the advice; see render::Style.
[[nodiscard]] std::string run_summary(const session::Ended& ended,
                                      const std::optional<analysis::Insight>& advice,
                                      std::size_t width);

}  // namespace fathom::cli
