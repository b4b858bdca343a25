// SPDX-License-Identifier: MIT
// Breaks sentences at blanks, by the columns that their words take.
#include "render/wrap.h"

#include "base/text.h"
#include "render/display_width.h"

namespace fathom::render {

std::string wrapped(std::string_view words, std::size_t indent, std::size_t width) {
  constexpr std::size_t kLeastRoom = 20;  // less is no line, but a column of words
  const std::string blanks(indent, ' ');
  if (width < indent + kLeastRoom) return blanks + std::string(words) + "\n";
  std::string text;
  std::string line;
  for (const std::string_view word : split(words, ' ')) {
    if (!line.empty() && indent + display_width(line) + 1 + display_width(word) > width) {
      text += blanks + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return text + blanks + line + "\n";
}

}  // namespace fathom::render
