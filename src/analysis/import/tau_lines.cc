// SPDX-License-Identifier: MIT
// Lines of TAU's profiles. Names of functions hold quotes, blanks and braces (C++ templates,
// Python), and nothing escapes them; numbers and group at the end of a row do not. So a row is read
// from its end.
#include "analysis/import/tau_lines.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text.h"

namespace fathom::analysis {
namespace {

std::optional<double> real_in(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return {};
  return value;
}

// As large as a year of microseconds, and no less than nothing.
std::optional<std::int64_t> whole_in(std::string_view word, double scale) {
  const auto value = real_in(word);
  constexpr double kMost = 4e18;
  if (!value || *value < 0 || *value * scale > kMost) return {};
  return static_cast<std::int64_t>(std::llround(*value * scale));
}

// Takes " [{file} {line,column}]" off the end, and " [layer]" as we write it.
void split_name(TauFunction& row) {
  const std::size_t place = row.name.rfind(" [{");
  if (place != std::string_view::npos && row.name.ends_with("}]")) {
    const std::size_t end = row.name.find('}', place);
    row.file = row.name.substr(place + 3, end - place - 3);
    row.name = row.name.substr(0, place);
  }
  for (const std::string_view layer : {"posix", "stdio", "heap", "cuda", "syscall"}) {
    const std::string ending = " [" + std::string(layer) + "]";
    if (!row.name.ends_with(ending)) continue;
    row.name.remove_suffix(ending.size());
    row.layer = layer;
  }
}

}  // namespace

// "name" calls subroutines exclusive inclusive profile-calls GROUP="…"; times are in microseconds.
std::optional<TauFunction> parse_tau_function(std::string_view line) {
  line = trim(line);
  const std::size_t group = line.rfind(" GROUP=\"");
  if (!line.starts_with('"') || group == std::string_view::npos || !line.ends_with('"')) return {};
  const std::string_view left = line.substr(0, group);
  const std::size_t quote = left.rfind('"');
  if (quote == 0 || quote == std::string_view::npos) return {};
  std::vector<std::string_view> numbers = split(left.substr(quote + 1), ' ');
  std::erase(numbers, "");
  if (numbers.size() != 5) return {};
  constexpr double kNsPerUs = 1000;
  const auto calls = whole_in(numbers[0], 1);
  const auto self = whole_in(numbers[2], kNsPerUs);
  const auto total = whole_in(numbers[3], kNsPerUs);
  if (!calls || !self || !total) return {};
  TauFunction row{.name = trim(left.substr(1, quote - 1)),
                  .file = {},
                  .layer = line.substr(group).find("PYTHON") != std::string_view::npos ||
                                   line.substr(group).find("TAU_LOOP") != std::string_view::npos
                               ? "python"
                               : "app",
                  .calls = *calls,
                  .self_ns = *self,
                  .total_ns = *total};
  row.is_path = row.name.find("=>") != std::string_view::npos;
  row.is_root = row.name == ".TAU application";
  split_name(row);
  return row;
}

std::optional<std::int64_t> parse_tau_head(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return {};
  if (!line.substr(blank + 1).starts_with("templated_functions")) return {};
  const Result<std::int64_t> count = parse_int(line.substr(0, blank));
  return count && *count >= 0 ? std::optional(*count) : std::nullopt;
}

std::optional<TauPlace> parse_tau_file_name(std::string_view name) {
  const std::vector<std::string_view> words = split(name, '.');
  if (words.size() < 4 || words[words.size() - 4] != "profile") return {};
  const auto number = [&](std::size_t from_end) -> std::optional<std::int32_t> {
    const Result<std::int64_t> value = parse_int(words[words.size() - from_end]);
    if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max() / 2) return {};
    return static_cast<std::int32_t>(*value);
  };
  const auto node = number(3);
  const auto thread = number(1);
  if (!node || !thread || !number(2)) return {};
  return TauPlace{*node, *thread};
}

}  // namespace fathom::analysis
