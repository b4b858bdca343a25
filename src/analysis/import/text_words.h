// SPDX-License-Identifier: MIT
// A line of a textual recording: words, and behind them key=value pairs in any order. A value that
// holds blanks stands in quotes, with \" \\ \n \t and \xNN inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::analysis {

// What was read is taken out, word by word and pair by pair, so that finish() can say what was not
// understood: a slip in a recording that a test is made of would otherwise change what the test is
// about.
class TextWords {
 public:
  // Nothing for an empty line and for a comment (#).
  static Result<TextWords> parse(std::string_view line);

  [[nodiscard]] bool empty() const { return words_.empty(); }
  // The next word; an error that names what is missing.
  Result<std::string> word(std::string_view what);
  Result<std::int64_t> number(std::string_view what);

  // Takes a pair out; nothing where it is not there.
  std::optional<std::string> take(std::string_view key);
  // The same, as a whole number: the error names the key.
  Result<std::optional<std::int64_t>> take_number(std::string_view key);
  // Pairs whose key begins so, without that beginning.
  std::vector<std::pair<std::string, std::string>> take_all(std::string_view prefix);
  // An error where a word or a pair is left that nobody took.
  Status finish() const;

 private:
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace fathom::analysis
