// SPDX-License-Identifier: MIT
// docs/moving.md as rows: how names of other tools are written here. The page is the one source;
// CMake makes it part of the program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::cli {

struct PageText {
  std::string_view name, text;
};
[[nodiscard]] std::span<const PageText> moving_pages();  // the one page

// A row of the page, without its Markdown.
struct MovedName {
  std::string tool;                // "DFTracer"
  std::string section;             // "Variables"; "" for a tool that has one table
  std::string old;                 // what the tool calls it
  std::string now;                 // what to use here, and what is different
  std::vector<std::string> names;  // those in `old`
};

// Tables below a tool's heading. A table of three columns names the tool in its first.
[[nodiscard]] std::vector<MovedName> read_moving_page(std::string_view page);

// In the page's order.
[[nodiscard]] std::vector<std::string> tools_of(std::span<const MovedName> rows);

// Rows of the tools of that name, or whose name begins with that word: "waggle". Letters' case does
// not matter, here and below.
[[nodiscard]] std::vector<MovedName> rows_of_tool(std::span<const MovedName> rows,
                                                  std::string_view tool);

// What to ask for to get these: "waggle"; the tool's whole name where others begin with that word.
[[nodiscard]] std::string word_for(const std::string& tool, std::span<const MovedName> rows);

// Rows that have the name; of those that list names and nothing else, only the names that match.
// Else rows that contain it. "=" and what follows it may differ.
[[nodiscard]] std::vector<MovedName> rows_of_name(std::span<const MovedName> rows,
                                                  std::string_view name);

}  // namespace fathom::cli
