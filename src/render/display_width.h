// SPDX-License-Identifier: MIT
// How many columns of a terminal a text takes, and how to make it take fewer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom::render {

// East Asian characters and emoji take two, combining marks none, everything else one. The text is
// valid UTF-8 without control characters; a byte that is not counts as one.
std::size_t display_width(std::string_view text);

// The text in at most `width` columns: its middle gives way to "…". Of a path the end stays longer,
// where its name is; of other texts the beginning, where a function has its name.
std::string shorten_middle(std::string_view text, std::size_t width);

}  // namespace fathom::render
