// SPDX-License-Identifier: MIT
// The program under the name of Waggle's plotstats.py: it draws the files of the current directory,
// or of one that is named, by `fathom plot`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::cli {

// Whether the program was started by that name; also with .py behind it.
[[nodiscard]] bool is_plotstats(std::string_view program);

// The words of `fathom plot`: [DIR] [-o FILE]; without them this directory, and plotstats.svg in
// it.
[[nodiscard]] std::vector<std::string> plotstats_words(std::vector<std::string> words);

}  // namespace fathom::cli
