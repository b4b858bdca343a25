// SPDX-License-Identifier: MIT
// "Did you mean …?": the known word that is closest to a mistyped one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// The word with the fewest edits to `typed`; "" when none is near (more than a third of the letters
// differ).
[[nodiscard]] std::string_view nearest(std::string_view typed,
                                       std::span<const std::string_view> words);

// At most so many that it may have been meant for: near ones first, then those that contain it.
[[nodiscard]] std::vector<std::string> near_words(std::string_view typed,
                                                  std::span<const std::string> words,
                                                  std::size_t most = 3);

// "did you mean a, b or c?"; "" where there are none.
[[nodiscard]] std::string did_you_mean(const std::vector<std::string>& words);

}  // namespace fathom
