// SPDX-License-Identifier: MIT
// Words and numbers of a line that a program printed for people.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::analysis {

inline constexpr std::string_view kBlank = " \t\r";

// What stands between blanks; views of the line.
[[nodiscard]] std::vector<std::string_view> words_of_line(std::string_view line);

// The whole text as a number that fits.
template <class T>
[[nodiscard]] std::optional<T> number_in(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || at != end || text.empty()) return {};
  return number;
}

}  // namespace fathom::analysis
