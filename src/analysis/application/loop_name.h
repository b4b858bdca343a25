// SPDX-License-Identifier: MIT
// "work.<for 72>": what the recorder of Python calls a loop, by its function, kind and line.
#pragma once

#include <string_view>

namespace fathom::analysis {

inline bool is_loop_name(std::string_view name) {
  const std::size_t open = name.rfind(".<");
  if (open == std::string_view::npos || !name.ends_with('>')) return false;
  const std::string_view inside = name.substr(open + 2);
  return inside.starts_with("for ") || inside.starts_with("while ") ||
         inside.starts_with("async for ") || inside.starts_with("comprehension ");
}

}  // namespace fathom::analysis
