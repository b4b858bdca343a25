// SPDX-License-Identifier: MIT
// Reads lines as perf does: the name is the rest of the line, with its spaces.
#include "symbols/perf_map.h"

#include <charconv>
#include <optional>

#include "base/text.h"

namespace fathom::symbols {
namespace {

std::optional<std::uint64_t> take_hex(std::string_view& line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t number = 0;
  const auto read = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  if (read.ec != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
  if (!line.starts_with(' ')) return std::nullopt;
  line.remove_prefix(1);
  return number;
}

}  // namespace

PerfMap PerfMap::parse(std::string text) {
  PerfMap map;
  text += '\n';
  map.add(text, 0);
  return map;
}

void PerfMap::add(std::string_view text, std::uint64_t read_at) {
  const std::size_t end = text.rfind('\n');
  if (end == std::string_view::npos) {
    begun_ += text;
    return;
  }
  texts_.push_back(std::make_unique<std::string>(begun_ + std::string(text.substr(0, end))));
  begun_ = text.substr(end + 1);
  for (const std::string_view line : split(*texts_.back(), '\n')) add_line(line, read_at);
}

void PerfMap::add_line(std::string_view line, std::uint64_t read_at) {
  const std::uint64_t begin = take_hex(line).value_or(0);
  const std::uint64_t size = take_hex(line).value_or(0);
  line = trim(line);
  if (begin == 0 || line.empty() || begin + size <= begin) return;
  const bool is_reused = is_covered_by_another(begin, begin + size, line);
  names_.put(begin, begin + size, {line, is_reused ? read_at : 0});
}

bool PerfMap::is_covered_by_another(std::uint64_t begin, std::uint64_t end,
                                    std::string_view name) const {
  for (auto part = names_.next(begin); part && part->begin < end; part = names_.next(part->end))
    if (part->value->text != name || part->value->since != 0) return true;
  return false;
}

std::string_view PerfMap::find(std::uint64_t address, std::uint64_t time) const {
  const auto found = names_.find(address);
  return found && found->value->since <= time ? found->value->text : std::string_view();
}

}  // namespace fathom::symbols
