// SPDX-License-Identifier: MIT
// Brackets are counted, not matched: what is in them may be a regular expression.
#include "base/brackets.h"

#include <string_view>
#include <utility>

namespace fathom {
namespace {

bool is_balanced(std::string_view text) {
  int depth = 0;
  bool escaped = false;
  for (const char c : text) {
    if (!escaped && (c == '(' || c == '{' || c == '[')) ++depth;
    if (!escaped && (c == ')' || c == '}' || c == ']')) --depth;
    escaped = !escaped && c == '\\';
  }
  return depth <= 0;
}

}  // namespace

std::vector<std::string> join_in_brackets(const std::vector<std::string>& parts) {
  std::vector<std::string> whole;
  std::size_t done = 0;  // parts
  while (done < parts.size()) {
    std::string text;
    std::size_t next = done;
    do {
      text += (next > done ? "," : "") + parts[next];
      ++next;
    } while (next < parts.size() && !is_balanced(text));
    if (!is_balanced(text)) {  // no other one closes it
      text = parts[done];
      next = done + 1;
    }
    whole.push_back(std::move(text));
    done = next;
  }
  return whole;
}

}  // namespace fathom
