// SPDX-License-Identifier: MIT
// Lines to type that need root.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// `line` as this user has to type it: itself for root, else by sudo.
[[nodiscard]] std::string as_root(std::string_view line);

}  // namespace fathom
