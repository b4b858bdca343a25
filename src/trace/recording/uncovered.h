// SPDX-License-Identifier: MIT
// Processes that the library entered and left alone, by their own words (wire/exec.h): their exec
// went past the hooks, so that no record tells of them.
#pragma once

#include <vector>

#include "base/directory.h"
#include "trace/recording/manifest.h"

namespace fathom::trace {

[[nodiscard]] std::vector<NotCovered> left_alone(const Directory& spool);

}  // namespace fathom::trace
