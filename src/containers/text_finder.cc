// SPDX-License-Identifier: MIT
// Knuth, Morris and Pratt: behind a byte that does not fit, the longest part of the text that still
// fits is known beforehand.
#include "containers/text_finder.h"

#include <algorithm>

namespace fathom::containers {
namespace {

struct Parts {
  std::string_view text;
  bool begins_line = false;
  bool ends_line = false;
};

Parts parts_of(std::string_view wanted) {
  Parts parts{.text = wanted,
              .begins_line = wanted.starts_with('^'),
              .ends_line = wanted.size() > 1 && wanted.ends_with('$')};
  if (parts.begins_line) parts.text.remove_prefix(1);
  if (parts.ends_line) parts.text.remove_suffix(1);
  return parts;
}

}  // namespace

TextFinder::TextFinder(std::string text) : text_(std::move(text)), fallback_(text_.size() + 1) {
  std::size_t fits = 0;
  for (std::size_t i = 1; i < text_.size(); ++i) {
    while (fits > 0 && text_[i] != text_[fits]) fits = fallback_[fits];
    if (text_[i] == text_[fits]) ++fits;
    fallback_[i + 1] = fits;
  }
}

void TextFinder::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (found_) return;
    while (fits_ > 0 && c != text_[fits_]) fits_ = fallback_[fits_];
    if (c == text_[fits_]) ++fits_;
    found_ = fits_ == text_.size();
  }
}

LineFinder::LineFinder(std::string_view wanted) {
  const Parts parts = parts_of(wanted);
  const std::string begin = (parts.begins_line ? "\n" : "") + std::string(parts.text);
  if (!parts.ends_line) {
    ways_.emplace_back(begin);
  } else {
    for (const char* end : {"\n", "\r\n"}) ways_.emplace_back(begin + end);  // of a terminal, too
  }
  feed("\n");  // the first line begins as any
}

void LineFinder::feed(std::string_view bytes) {
  for (TextFinder& way : ways_) way.feed(bytes);
}

bool LineFinder::finish() {
  feed("\n");
  return std::ranges::any_of(ways_, [](const TextFinder& way) { return way.has_found(); });
}

bool is_findable(std::string_view wanted) {
  constexpr std::size_t kMost = 1024;
  const std::string_view text = parts_of(wanted).text;
  return !text.empty() && text.size() <= kMost;
}

}  // namespace fathom::containers
