// SPDX-License-Identifier: MIT
// A page that needs nothing but itself: no network, and no script to be read. The script sorts
// tables and switches between light and dark.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/table.h"

namespace fathom::render {

// A part of a page: a table and how it wants to be drawn.
struct PageSection {
  enum class Shape : std::uint8_t {
    kTable,
    kSplit,   // rows as parts of a whole
    kSeries,  // the last column's lists of numbers as lines
  };
  Table table;
  Shape shape = Shape::kTable;
  std::vector<std::string> notes = {};  // below the table and its own note, a line each
};

// In this order; sections as many as there are.
[[nodiscard]] std::string page_begin(const std::string& title);
[[nodiscard]] std::string page_words(const std::vector<std::string>& words);
[[nodiscard]] std::string page_section(const PageSection& section, std::int64_t wall_ns);
[[nodiscard]] std::string page_facts(const std::vector<std::pair<std::string, std::string>>& facts);
[[nodiscard]] std::string page_end();

}  // namespace fathom::render
