// SPDX-License-Identifier: MIT
// Looks at the first bytes only, to tell formats apart that are all JSON, without parsing a
// possibly huge file.
#include "analysis/import/json_head.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Where the object that begins at `from` ends; npos where it does not.
std::size_t end_of_object(std::string_view text, std::size_t from) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

bool JsonHead::names(std::string_view key) const {
  return text.find('"' + std::string(key) + '"') != std::string_view::npos;
}

JsonHead json_head(std::string_view head) {
  JsonHead found{.text = head};
  const std::size_t begin = head.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return found;
  if (head[begin] == '{') found.kind = JsonHead::Kind::kObject;
  if (head[begin] != '[') return found;
  found.kind = JsonHead::Kind::kArray;
  const std::size_t object = head.find_first_not_of(kSpace, begin + 1);
  if (object == std::string_view::npos || head[object] != '{') return found;
  const std::size_t end = end_of_object(head, object);
  if (end == std::string_view::npos) return found;
  const std::size_t next = head.find_first_not_of(kSpace, end);
  found.comma_after_object = next != std::string_view::npos && head[next] == ',';
  return found;
}

}  // namespace fathom::analysis
