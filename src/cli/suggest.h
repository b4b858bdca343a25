// SPDX-License-Identifier: MIT
// "Did you mean …?": the known word that is closest to a mistyped one.
#pragma once

#include <span>
#include <string_view>

namespace fathom::cli {

// The word with the fewest edits to `typed`; "" when none is near (more than a third of the letters
// differ).
[[nodiscard]] std::string_view nearest(std::string_view typed,
                                       std::span<const std::string_view> words);

}  // namespace fathom::cli
