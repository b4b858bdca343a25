// SPDX-License-Identifier: MIT
// The script of flame graphs as the build made it part of the program (cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace fathom::render {

struct FlameScript {
  std::string_view name;
  std::string_view text;
};

// One: flame.js.
[[nodiscard]] std::span<const FlameScript> flame_scripts();

}  // namespace fathom::render
