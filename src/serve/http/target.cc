// SPDX-License-Identifier: MIT
// Parts are cut before they are decoded, so that %2f is a letter of a name and no step. In a query
// + is a space, as browsers write it.
#include "serve/http/target.h"

#include <algorithm>
#include <cstddef>

#include "base/escape.h"
#include "base/text.h"

namespace fathom::serve {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? digit(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? digit(text[at + 2]) : -1;
    if (high < 0 || low < 0)
      return Error{Code::kInvalid, "the path has a % without two hexadecimal digits", ""};
    decoded += static_cast<char>(16 * high + low);
    at += 2;
  }
  return decoded;
}

std::string with_spaces(std::string_view text) {
  std::string made(text);
  std::ranges::replace(made, '+', ' ');
  return made;
}

// Whoever reads the other one of the two would mean something else.
Error said_twice(const std::string& name) {
  return {Code::kInvalid,
          "the parameter '" + escape_name(name.substr(0, 100)) + "' stands there twice",
          "each is given once"};
}

}  // namespace

Status parse_query(std::string_view text, std::map<std::string, std::string>& query) {
  if (text.empty()) return {};
  for (const std::string_view pair : split(text, '&')) {
    const std::size_t equals = pair.find('=');
    FATHOM_ASSIGN(std::string name, decode(with_spaces(pair.substr(0, equals))));
    const std::string_view rest =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    FATHOM_ASSIGN(std::string value, decode(with_spaces(rest)));
    const auto [known, is_new] = query.try_emplace(std::move(name), std::move(value));
    if (!is_new) return said_twice(known->first);
  }
  return {};
}

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return Error{Code::kInvalid, "the path must begin with a /", ""};
  Target target;
  const std::size_t mark = text.find('?');
  if (mark != std::string_view::npos) FATHOM_TRY(parse_query(text.substr(mark + 1), target.query));
  for (const std::string_view part : split(text.substr(1, mark - 1), '/')) {
    FATHOM_ASSIGN(std::string decoded, decode(part));
    target.parts.push_back(std::move(decoded));
  }
  return target;
}

// `places` is filled only where all of it fits, so that a route that fits in part leaves nothing
// behind.
bool matches(std::string_view pattern, const std::vector<std::string>& parts,
             std::map<std::string, std::string>& places) {
  const std::vector<std::string_view> wanted = split(pattern.substr(1), '/');
  if (wanted.size() != parts.size()) return false;
  std::map<std::string, std::string> found;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const std::string_view want = wanted[at];
    if (want.starts_with('{')) {
      found[std::string(want.substr(1, want.size() - 2))] = parts[at];
    } else if (want != parts[at]) {
      return false;
    }
  }
  places = std::move(found);
  return true;
}

}  // namespace fathom::serve
