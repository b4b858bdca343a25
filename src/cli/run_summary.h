// SPDX-License-Identifier: MIT
// What `fathom run` says when the program has ended: the shortest useful overview, and what to type
// next.
#pragma once

#include <string>

#include "session/run/run.h"

namespace fathom::cli {

[[nodiscard]] std::string run_summary(const session::Ended& ended);

}  // namespace fathom::cli
