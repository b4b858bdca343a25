// SPDX-License-Identifier: MIT
// Perf maps: text files in which JITs (node, Python's trampoline, agents of Java) tell which
// function they put where, as lines "BEGIN SIZE NAME" in hexadecimal digits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/overlay_map.h"

namespace fathom::symbols {

// Texts live as long as this.
class PerfMap {
 public:
  // Lines that make no sense are passed over; of entries that overlap the later one holds.
  static PerfMap parse(std::string text);
  // What was written behind all that was added before, read at this time (ns). A line without an
  // end waits for the rest.
  void add(std::string_view text, std::uint64_t read_at);

  // "" where nothing is known. A map says not when: code that was put over other code has its name
  // from when that was read, and none at a `time` before.
  [[nodiscard]] std::string_view find(std::uint64_t address,
                                      std::uint64_t time = ~std::uint64_t{0}) const;
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  struct Name {
    std::string_view text;
    std::uint64_t since = 0;
  };
  void add_line(std::string_view line, std::uint64_t read_at);
  [[nodiscard]] bool is_covered_by_another(std::uint64_t begin, std::uint64_t end,
                                           std::string_view name) const;

  std::vector<std::unique_ptr<std::string>> texts_;  // move with their views
  std::string begun_;                                // a line without an end
  OverlayMap<Name> names_;
};

}  // namespace fathom::symbols
