// SPDX-License-Identifier: MIT
// Splitting at blanks, for output that programs print for people: columns are aligned with any
// number of them, so that a split at each blank would give empty words.
#include "analysis/import/line_words.h"

#include <algorithm>

namespace fathom::analysis {

std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kBlank, at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace fathom::analysis
