// SPDX-License-Identifier: MIT
// Collapsed stacks: "outer;inner 42", a line for each stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::analysis {

struct CollapsedStack {
  std::vector<std::string_view> functions;  // outermost first
  std::int64_t weight = 0;
};

// Nothing where the line is no stack.
[[nodiscard]] std::optional<CollapsedStack> parse_collapsed(std::string_view line);

}  // namespace fathom::analysis
