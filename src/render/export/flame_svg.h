// SPDX-License-Identifier: MIT
// A flame graph as SVG: every frame is a <g> with a <title> and a <rect>, whose width is its share
// in percent, so that the picture is as wide as there is room. It can be read without a script; the
// script searches, zooms, and makes frames reachable by keys. Nothing comes from elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "render/export/flame_layout.h"

namespace fathom::render {

[[nodiscard]] std::string flame_file(const FlameTree& tree, const FlameLayout& layout);

// What is inside. Colours --bg, --fg, --dim, --line and --card are the picture's.
[[nodiscard]] std::string_view flame_style();
[[nodiscard]] std::string_view flame_script();

}  // namespace fathom::render
