// SPDX-License-Identifier: MIT
// Reads docs/moving.md and finds names in it. Markdown is understood as far as the page uses it:
// headings, tables, `code` and [links](…).
#include "cli/moving_page.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// "| a | b |" as {"a", "b"}. A bar in code has no blank on both sides.
Words cells_of(std::string_view line) {
  Words cells;
  line = trim(line);
  if (line.size() < 2) return cells;
  line = line.substr(1, line.size() - 2);
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = line.find(" | ");
    cells.emplace_back(trim(line.substr(0, end)));
    if (end != std::string_view::npos) line.remove_prefix(end + 3);
  }
  return cells;
}

// A link's text stands for it.
std::string without_links(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t middle = text.find("](");
    if (middle == std::string_view::npos) return out + std::string(text);
    const std::size_t begin = text.rfind('[', middle);
    const std::size_t end = text.find(')', middle);
    if (begin == std::string_view::npos || end == std::string_view::npos)
      return out + std::string(text);
    out += std::string(text.substr(0, begin)) +
           std::string(text.substr(begin + 1, middle - begin - 1));
    text.remove_prefix(end + 1);
  }
}

std::string plain(std::string_view markdown) {
  std::string out = without_links(markdown);
  std::erase(out, '`');
  return out;
}

// What stands in backticks.
Words names_in(std::string_view markdown) {
  Words names;
  const std::vector<std::string_view> parts = split(markdown, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) names.emplace_back(parts[i]);
  return names;
}

// "LD_PRELOAD=libx.so" as {"ld_preload", "libx.so"}, "--all" as {"all"}.
Words words_in(std::string_view name) {
  Words words;
  std::string word;
  for (const char c : lower(name) + " ") {
    if (std::string_view(" =(),:;[]{}|<>\"'").find(c) == std::string_view::npos) {
      word += c;
      continue;
    }
    word.erase(0, std::min(word.find_first_not_of("-@"), word.size()));
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  }
  return words;
}

// "initialize_log" is meant by "dftracer.initialize_log", and "DFTRACER_C_USES" by "*_USES".
bool is_meant(const std::string& wanted, const std::string& word) {
  if (word.find('*') != std::string::npos) return fnmatch(word.c_str(), wanted.c_str(), 0) == 0;
  return word == wanted || word.ends_with("." + wanted);
}

bool has_words(std::string_view name, std::span<const std::string> wanted) {
  const Words words = words_in(name);
  return !wanted.empty() && std::ranges::all_of(wanted, [&](const std::string& one) {
    return std::ranges::any_of(words, [&](const auto& word) { return is_meant(one, word); });
  });
}

std::vector<MovedName> rows_with_words(std::span<const MovedName> rows,
                                       std::span<const std::string> wanted) {
  std::vector<MovedName> found;
  for (MovedName row : rows) {
    const bool only_names = row.old == join(row.names, ", ");
    std::erase_if(row.names, [&](const std::string& name) { return !has_words(name, wanted); });
    if (row.names.empty()) continue;
    if (only_names) row.old = join(row.names, ", ");
    found.push_back(std::move(row));
  }
  return found;
}

std::vector<MovedName> rows_that_contain(std::span<const MovedName> rows, std::string_view part) {
  std::vector<MovedName> found;
  for (const MovedName& row : rows) {
    if (lower(row.old).find(lower(part)) != std::string::npos) found.push_back(row);
  }
  return found;
}

// The page line by line. A table's first line is its head; the second rules it off.
class Reader {
 public:
  std::vector<MovedName> read(std::string_view page) {
    for (const std::string_view line : split(page, '\n')) take(line);
    return std::move(rows_);
  }

 private:
  void take(std::string_view line) {
    if (!line.starts_with("|")) lines_of_table_ = 0;
    if (line.starts_with("## ")) {
      tool_ = plain(line.substr(3));
      section_.clear();
    } else if (line.starts_with("### ")) {
      section_ = plain(line.substr(4));
    } else if (line.starts_with("|") && ++lines_of_table_ > 2 && !tool_.empty()) {
      add(cells_of(line));
    }
  }

  void add(const Words& cells) {
    if (cells.size() < 2) return;
    const std::string& old = cells[cells.size() - 2];
    const bool names_tool = cells.size() > 2;
    rows_.push_back({.tool = names_tool ? plain(cells[0]) : tool_,
                     .section = section_,
                     .old = plain(old),
                     .now = plain(cells.back()),
                     .names = names_in(old)});
  }

  std::vector<MovedName> rows_;
  std::string tool_, section_;
  std::size_t lines_of_table_ = 0;
};

}  // namespace

std::vector<MovedName> read_moving_page(std::string_view page) { return Reader().read(page); }

std::vector<std::string> tools_of(std::span<const MovedName> rows) {
  Words tools;
  for (const MovedName& row : rows) {
    if (std::ranges::find(tools, row.tool) == tools.end()) tools.push_back(row.tool);
  }
  return tools;
}

std::vector<MovedName> rows_of_tool(std::span<const MovedName> rows, std::string_view tool) {
  const std::string wanted = lower(tool);
  std::vector<MovedName> found;
  for (const MovedName& row : rows) {
    const std::string name = lower(row.tool);
    if (name == wanted || name.starts_with(wanted + " ")) found.push_back(row);
  }
  return found;
}

std::string word_for(const std::string& tool, std::span<const MovedName> rows) {
  const std::string word = lower(tool.substr(0, tool.find(' ')));
  return tools_of(rows_of_tool(rows, word)).size() == 1 ? word : tool;
}

std::vector<MovedName> rows_of_name(std::span<const MovedName> rows, std::string_view name) {
  const Words words = words_in(name);
  if (words.empty()) return {};
  std::vector<MovedName> found = rows_with_words(rows, words);
  if (found.empty()) found = rows_with_words(rows, std::span(words).first(1));
  return found.empty() ? rows_that_contain(rows, name) : found;
}

}  // namespace fathom::cli
