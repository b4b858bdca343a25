// SPDX-License-Identifier: MIT
// The files of insights/rules as the build made them part of the program (cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace fathom::analysis {

struct OwnRule {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const OwnRule> own_rule_texts();

}  // namespace fathom::analysis
