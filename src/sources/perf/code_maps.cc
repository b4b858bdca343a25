// SPDX-License-Identifier: MIT
// A line is "7f00-7f10 r-xp 00001000 08:01 1234     /a path"; a newline in a path is "\012" there,
// as it is in the kernel's records of mappings.
#include "sources/perf/code_maps.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace fathom::sources {
namespace {

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  constexpr int kBase = 16;
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, kBase);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The next word, and what is behind it without the spaces between.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  const std::size_t next = std::min(text.find_first_not_of(' ', end), text.size());
  text.remove_prefix(next);
  return word;
}

std::optional<CodeMapping> parse_line(std::string_view line) {
  const std::string_view range = take_word(line);
  const std::string_view rights = take_word(line);
  const std::optional<std::uint64_t> offset = parse_hex(take_word(line));
  take_word(line);  // device
  const Result<std::int64_t> inode = parse_int(take_word(line));
  const std::size_t dash = std::min(range.find('-'), range.size());
  const std::optional<std::uint64_t> begin = parse_hex(range.substr(0, dash));
  const std::optional<std::uint64_t> end =
      parse_hex(range.substr(std::min(dash + 1, range.size())));
  const bool is_code = rights.size() >= 3 && rights[2] == 'x';
  if (!begin || !end || !offset || !inode || *end <= *begin || !is_code || line.empty())
    return std::nullopt;
  return CodeMapping{*begin, *end - *begin, *offset, static_cast<std::uint64_t>(*inode),
                     std::string(line)};
}

}  // namespace

std::vector<CodeMapping> parse_code_maps(std::string_view text) {
  std::vector<CodeMapping> mappings;
  for (const std::string_view line : split(text, '\n')) {
    if (std::optional<CodeMapping> mapping = parse_line(line))
      mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

}  // namespace fathom::sources
