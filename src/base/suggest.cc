// SPDX-License-Identifier: MIT
// Edit distance with transpositions. A suggestion is made only within a third of the word's length,
// as a wrong one is worse than none.
#include "base/suggest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace fathom {
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

// A third of the letters.
std::size_t most_edits(std::string_view typed) {
  return std::max<std::size_t>(1, (typed.size() + 2) / 3);
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t fewest = most_edits(typed);
  for (const std::string_view word : words) {
    const std::size_t distance = edits(typed, word);
    if (distance > fewest || (distance == fewest && !best.empty())) continue;
    best = word;
    fewest = distance;
  }
  return best;
}

std::vector<std::string> near_words(std::string_view typed, std::span<const std::string> words,
                                    std::size_t most) {
  const std::size_t limit = most_edits(typed);
  std::set<std::tuple<std::size_t, std::size_t, std::string>> found;  // distance, length, word
  for (const std::string& word : words) {
    const std::size_t more = std::max(word.size(), typed.size());
    const bool is_long = more - std::min(word.size(), typed.size()) > limit;
    std::size_t distance = is_long ? limit + 1 : edits(typed, word);
    if (distance > limit && (typed.empty() || word.find(typed) == std::string::npos)) continue;
    distance = std::min(distance, limit + 1);
    found.emplace(distance, word.size(), word);
    if (found.size() > most) found.erase(std::prev(found.end()));
  }
  std::vector<std::string> near;
  for (const auto& one : found) near.push_back(std::get<2>(one));
  return near;
}

std::string did_you_mean(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text.empty() ? text : "did you mean " + text + "?";
}

}  // namespace fathom
