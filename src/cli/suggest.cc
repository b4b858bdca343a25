// SPDX-License-Identifier: MIT
// Edit distance with transpositions. A suggestion is made only within a third of the word's length,
// as a wrong one is worse than none.
#include "cli/suggest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace fathom::cli {
namespace {

// Levenshtein's distance, with two neighbours in the wrong order as one edit: the commonest slip of
// fingers.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, std::exchange(row, before));
  }
  return last.back();
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t fewest = std::max<std::size_t>(1, (typed.size() + 2) / 3);
  for (const std::string_view word : words) {
    const std::size_t distance = edits(typed, word);
    if (distance > fewest || (distance == fewest && !best.empty())) continue;
    best = word;
    fewest = distance;
  }
  return best;
}

}  // namespace fathom::cli
