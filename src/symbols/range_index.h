// SPDX-License-Identifier: MIT
// Ranges of addresses, sorted, which may lie inside each other: which is the innermost at an
// address? Entries have `begin`, `end` (behind the last), and `reach`, which is filled here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace fathom::symbols {

// `reach`: the farthest end of an entry and of all before it, so that a search knows when to stop.
template <class Entry>
void fill_reach(std::vector<Entry>& sorted) {
  std::uint64_t reach = 0;
  for (Entry& entry : sorted) entry.reach = reach = std::max(reach, entry.end);
}

// By begin; at one begin the longest first.
template <class Entry>
void sort_ranges(std::vector<Entry>& entries) {
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  fill_reach(entries);
}

// The entry that begins last of those that cover the address; nullptr: none. Gives up where a
// damaged file has hundreds inside each other.
template <class Entry>
const Entry* innermost_at(const std::vector<Entry>& sorted, std::uint64_t address) {
  constexpr int kMostSteps = 512;
  auto entry = std::ranges::upper_bound(sorted, address, {}, &Entry::begin);
  for (int steps = 0; entry != sorted.begin() && steps < kMostSteps; ++steps) {
    --entry;
    if (address < entry->end) return &*entry;
    if (entry->reach <= address) return nullptr;
  }
  return nullptr;
}

}  // namespace fathom::symbols
