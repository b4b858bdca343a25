// SPDX-License-Identifier: MIT
// Sentences in lines that a terminal can hold.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom::render {

// The words in lines of at most `width` columns, each behind `indent` blanks and with a line end. A
// word that is longer than a line has one of its own. kNoLimit, or a terminal of hardly any width:
// one line.
std::string wrapped(std::string_view words, std::size_t indent, std::size_t width);

}  // namespace fathom::render
