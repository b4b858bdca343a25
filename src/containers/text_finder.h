// SPDX-License-Identifier: MIT
// Finds a text in a stream of any length, in one pass and without keeping any of it: a text that
// was made to be slow to look for is not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::containers {

// One thread at a time, as LineFinder.
class TextFinder {
 public:
  explicit TextFinder(std::string text);  // not empty
  void feed(std::string_view bytes);
  [[nodiscard]] bool has_found() const { return found_; }

 private:
  std::string text_;
  std::vector<std::size_t> fallback_;  // how much of the text still fits, behind each byte of it
  std::size_t fits_ = 0;
  bool found_ = false;
};

// "text" anywhere; "^text" at the beginning of a line, "text$" at the end of one.
class LineFinder {
 public:
  explicit LineFinder(std::string_view wanted);  // is_findable()
  void feed(std::string_view bytes);
  // No more comes: the last line ends.
  bool finish();

 private:
  std::vector<TextFinder> ways_;  // any will do
};

// Whether there is something to look for beside the signs for a line's begin and end.
[[nodiscard]] bool is_findable(std::string_view wanted);

}  // namespace fathom::containers
