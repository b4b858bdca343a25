// SPDX-License-Identifier: MIT
// A picture of ours as PNG, by librsvg and cairo of the machine, which are opened when they are
// needed: no program has to have them.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::cli {

// kUnsupported where the machine lacks the libraries. `svg` is ours: nothing else is handed over.
Status write_png(const std::string& svg, const std::string& path);

}  // namespace fathom::cli
