// SPDX-License-Identifier: MIT
// The doors to a terminal. Names of files, arguments and events come from others: they are shown,
// and never steer the display. Everything that people are to read passes one of these functions.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// What a character does to a display instead of being seen on it: control characters (C0, DEL, C1),
// line and paragraph separators, marks that turn the direction of writing, and what Unicode calls
// default-ignorable (zero-width characters, tags). Variation selectors of emoji are left.
[[nodiscard]] bool steers_display(char32_t character);

// No character that steers the display passes. Such characters become \n, \t, \xNN or \u{N}, and
// bytes that are not UTF-8 become \xNN. A sentence is escaped by escape_control (base/text.h):
// doing that twice changes nothing.
//
// A name or a value as one line. Two that differ look different: backslashes before what reads like
// one of our escapes are doubled. The exception is \x80 to \xff, which is also how recordings keep
// bytes that are not UTF-8.
[[nodiscard]] std::string escape_name(std::string_view bytes);
// A cell of CSV: line feeds and tabs stay, since quotes hold them.
[[nodiscard]] std::string escape_cell(std::string_view bytes);
// Whole pages of ours: line feeds, tabs and colours (ESC [ … m) stay.
[[nodiscard]] std::string escape_page(std::string_view bytes);

}  // namespace fathom
