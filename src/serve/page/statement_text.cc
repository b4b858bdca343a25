// SPDX-License-Identifier: MIT
// A file of its own, so that its test needs no recording.
#include "serve/page/statement_text.h"

namespace fathom::serve {
namespace {

constexpr std::string_view kOfNames =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

struct Place {
  std::string_view name;  // empty: the brace begins none
  std::size_t size = 0;   // with its braces
};

Place place_at(std::string_view text) {
  const std::size_t begin = text.substr(1).starts_with('=') ? 2 : 1;
  const std::size_t end = text.find_first_not_of(kOfNames, begin);
  if (end == std::string_view::npos || end == begin || text[end] != '}') return {};
  return {text.substr(begin, end - begin), end + 1};
}

}  // namespace

Result<std::string> statement_text(std::string_view text, const StatementValues& values) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t brace = text.find('{');
    filled += text.substr(0, brace);
    if (brace == std::string_view::npos) break;
    text.remove_prefix(brace);
    const Place place = place_at(text);
    if (place.name.empty()) {
      filled += '{';
      text.remove_prefix(1);
      continue;
    }
    const auto value = values.find(place.name);
    if (value == values.end())
      return Error{Code::kInvalid, "the statement needs " + std::string(place.name), ""};
    filled += value->second;
    text.remove_prefix(place.size);
  }
  return filled;
}

}  // namespace fathom::serve
