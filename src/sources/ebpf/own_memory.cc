// SPDX-License-Identifier: MIT
// Parses /proc/self/maps, to turn addresses of our own null functions into the (file, offset) pairs
// that uprobes want.
#include "sources/ebpf/own_memory.h"

#include <charconv>
#include <vector>

#include "base/text.h"

namespace fathom::sources::ebpf {
namespace {

std::optional<std::uint64_t> read_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<MappedPlace> place_of(std::uint64_t address, std::string_view maps) {
  for (const std::string_view line : split(maps, '\n')) {
    const std::size_t dash = line.find('-');
    const std::vector<std::string_view> words = split(line, ' ');  // range rights offset dev inode
    if (dash == std::string_view::npos || words.size() < 5 || words[0].size() <= dash) continue;
    const auto from = read_number(words[0].substr(0, dash), 16);
    const auto to = read_number(words[0].substr(dash + 1), 16);
    const auto offset = read_number(words[2], 16);
    const auto inode = read_number(words[4], 10);
    if (!from || !to || !offset || !inode || address < *from || address >= *to) continue;
    return MappedPlace{*inode, address - *from + *offset};
  }
  return Error{Code::kNotFound, "our own code is mapped nowhere", ""};
}

}  // namespace fathom::sources::ebpf
