// SPDX-License-Identifier: MIT
// Tokenizes the textual recording: words, key=value pairs, quotes and escapes. Keys that nobody
// took are an error.
#include "analysis/import/text_words.h"

#include <charconv>

#include "base/text.h"

namespace fathom::analysis {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

Error wrong(const std::string& what) { return {Code::kInvalid, what, ""}; }

// What stands behind a backslash; moves behind it.
Result<char> escaped(std::string_view line, std::size_t& at) {
  if (at >= line.size()) return wrong("a backslash at the end");
  const char c = line[at++];
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c != 'x') return c;
  unsigned byte = 0;
  if (at + 2 > line.size() ||
      std::from_chars(line.data() + at, line.data() + at + 2, byte, 16).ptr != line.data() + at + 2)
    return wrong("\\x without two digits");
  at += 2;
  return static_cast<char>(byte);
}

// One word with its quotes taken off; `equals` is where its first bare = stands, or npos.
Result<std::string> next_word(std::string_view line, std::size_t& at, std::size_t& equals) {
  std::string word;
  equals = std::string::npos;
  bool quoted = false;
  while (at < line.size() && (quoted || !is_blank(line[at]))) {
    const char c = line[at++];
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '\\' && quoted) {
      FATHOM_ASSIGN(const char meant, escaped(line, at));
      word += meant;
    } else {
      if (c == '=' && !quoted && equals == std::string::npos) equals = word.size();
      word += c;
    }
  }
  if (quoted) return wrong("a quote that does not end");
  return word;
}

Result<std::int64_t> whole(const std::string& text, std::string_view what) {
  const Result<std::int64_t> number = parse_int(text);
  if (number) return *number;
  return wrong(std::string(what) + ": '" + escape_control(text) + "' is not a whole number");
}

}  // namespace

Result<TextWords> TextWords::parse(std::string_view line) {
  TextWords words;
  std::size_t at = 0;
  while (true) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at >= line.size() || line[at] == '#') return words;
    std::size_t equals = 0;
    FATHOM_ASSIGN(std::string word, next_word(line, at, equals));
    if (equals == std::string::npos) {
      words.words_.push_back(std::move(word));
    } else {
      words.pairs_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
}

Result<std::string> TextWords::word(std::string_view what) {
  if (next_ >= words_.size()) return wrong(std::string(what) + " is missing");
  return words_[next_++];
}

Result<std::int64_t> TextWords::number(std::string_view what) {
  FATHOM_ASSIGN(const std::string text, word(what));
  return whole(text, what);
}

std::optional<std::string> TextWords::take(std::string_view key) {
  for (auto pair = pairs_.begin(); pair != pairs_.end(); ++pair) {
    if (pair->first != key) continue;
    std::string value = std::move(pair->second);
    pairs_.erase(pair);
    return value;
  }
  return {};
}

Result<std::optional<std::int64_t>> TextWords::take_number(std::string_view key) {
  const std::optional<std::string> text = take(key);
  if (!text) return std::optional<std::int64_t>();
  FATHOM_ASSIGN(const std::int64_t number, whole(*text, key));
  return std::optional(number);
}

std::vector<std::pair<std::string, std::string>> TextWords::take_all(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> taken;
  std::erase_if(pairs_, [&](const auto& pair) {
    if (!pair.first.starts_with(prefix)) return false;
    taken.emplace_back(pair.first.substr(prefix.size()), pair.second);
    return true;
  });
  return taken;
}

Status TextWords::finish() const {
  if (next_ < words_.size()) return wrong("'" + escape_control(words_[next_]) + "' has no meaning");
  if (!pairs_.empty()) return wrong("'" + escape_control(pairs_[0].first) + "' has no meaning");
  return {};
}

}  // namespace fathom::analysis
