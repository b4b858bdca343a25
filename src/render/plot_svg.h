// SPDX-License-Identifier: MIT
// A run as one picture: a panel for each CPU and one for memory over a common time, with functions
// and loops as bars above and as bands behind the curves.
#pragma once

#include <string>

#include "analysis/application/picture.h"

namespace fathom::render {

// SVG that loads nothing and has no script.
[[nodiscard]] std::string plot_svg(const analysis::Picture& picture);

}  // namespace fathom::render
