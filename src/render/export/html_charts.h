// SPDX-License-Identifier: MIT
// Charts of a page as inline SVG: no script is needed to see them. Every mark carries its exact
// number in data-value, and a title that says it in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/table.h"

namespace fathom::render {

// Text for HTML, between tags and in quoted attributes. Control characters are shown as \xNN.
[[nodiscard]] std::string html_text(std::string_view text);

// <table> with header, rows and note; numbers are sortable by data-value.
[[nodiscard]] std::string html_table(const Table& table);

// The parts of a whole as one bar: first column the name; the number is column `self`, or the
// second.
[[nodiscard]] std::string split_chart(const Table& table);
// Lines over the run: the last column holds lists, of as many numbers as there are bins.
[[nodiscard]] std::string line_chart(const Table& table, std::int64_t wall_ns);

}  // namespace fathom::render
