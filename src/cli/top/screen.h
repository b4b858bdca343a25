// SPDX-License-Identifier: MIT
// A page into the lines of a screen. No line is wider than the screen, no character of a name
// steers it, and a screen without UTF-8 gets ASCII alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/top/page.h"
#include "cli/top/view.h"

namespace fathom::cli::top {

struct ScreenSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

struct ScreenStyle {
  bool color = false;  // marks and titles are painted; else plain characters tell
  bool utf8 = true;
};

struct Screen {
  std::vector<std::string> lines;  // as many as the screen has, or fewer
  std::size_t visible = 0;         // rows of the table that keys are for
};

// The page is arranged (View::arrange).
[[nodiscard]] Screen draw(const Page& page, View& view, ScreenSize size, const ScreenStyle& style);

}  // namespace fathom::cli::top
