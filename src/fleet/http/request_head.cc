// SPDX-License-Identifier: MIT
// RFC 9112 with none of its leniencies: no folded lines, no bare line feeds, no space before a
// colon, one length, one coding.
#include "fleet/http/request_head.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.h"

namespace fathom::fleet {
namespace {

constexpr HeadFault kNoHttp{400, "this is not HTTP/1.1"};
constexpr HeadFault kBadLine{400, "a line of the header is not NAME: VALUE"};
constexpr HeadFault kBadLength{400, "the length of the body can be read in two ways"};

bool is_token_character(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

bool is_visible(char c) { return c > ' ' && c != '\x7f'; }

// What a value may hold: no control characters but tabs.
bool is_value_character(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<HeadFault> parse_line(std::string_view line, HttpHead& head) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return kBadLine;
  const std::string_view value = without_blanks(line.substr(colon + 1));
  if (!std::ranges::all_of(value, is_value_character)) return kBadLine;
  head.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return std::nullopt;
}

std::optional<HeadFault> read_length(std::string_view text, std::uint64_t& length) {
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return kBadLength;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc()) length = std::numeric_limits<std::uint64_t>::max();  // 413
  return std::nullopt;
}

// Two lengths, or a length and chunks: a proxy in front of us may have believed the other one, and
// what follows would be a request that it never saw.
std::optional<HeadFault> read_framing(RequestHead& request) {
  const HttpHead& head = request.head;
  const std::size_t lengths = head.count("content-length");
  const std::size_t codings = head.count("transfer-encoding");
  if (lengths + codings > 1) return kBadLength;
  if (lengths == 1) return read_length(head.header("content-length"), request.length);
  request.chunked = codings == 1;
  if (codings == 1 && !same_letters(head.header("transfer-encoding"), "chunked"))
    return HeadFault{400, "Transfer-Encoding can be chunked and nothing else"};
  return std::nullopt;
}

// Whether a list such as that of Connection has a word.
bool lists(std::string_view value, std::string_view word) {
  return std::ranges::any_of(split(value, ','), [&](std::string_view item) {
    return same_letters(without_blanks(item), word);
  });
}

std::optional<HeadFault> read_manners(RequestHead& request) {
  const HttpHead& head = request.head;
  if (head.count("host") != 1) return HeadFault{400, "a request needs one header Host"};
  request.keeps_open = !lists(head.header("connection"), "close");
  const std::string_view expect = head.header("expect");
  if (expect.empty()) return std::nullopt;
  if (!same_letters(expect, "100-continue"))
    return HeadFault{417, "this Expect header is not supported"};
  request.expects_continue = true;
  return std::nullopt;
}

}  // namespace

std::optional<HeadFault> check_first_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return kNoHttp;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(line.substr(0, first)) || !std::ranges::all_of(target, is_visible)) return kNoHttp;
  if (version == "HTTP/1.1") return std::nullopt;
  if (version.size() == 8 && version.starts_with("HTTP/"))
    return HeadFault{505, "only HTTP/1.1 is supported"};
  return kNoHttp;
}

HeadOutcome parse_head(std::string_view text) {
  HeadOutcome outcome;
  HttpHead& head = outcome.request.head;
  bool first = true;
  while (!outcome.fault) {
    const std::size_t end = text.find("\r\n");
    if (end == std::string_view::npos) {
      outcome.fault = kBadLine;
      break;
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (line.empty()) break;
    if (first) {
      outcome.fault = check_first_line(line);
      if (!outcome.fault) {
        head.method = line.substr(0, line.find(' '));
        head.target = line.substr(line.find(' ') + 1, line.rfind(' ') - line.find(' ') - 1);
      }
      first = false;
    } else {
      outcome.fault = parse_line(line, head);
    }
  }
  if (!outcome.fault) outcome.fault = read_framing(outcome.request);
  if (!outcome.fault) outcome.fault = read_manners(outcome.request);
  return outcome;
}

}  // namespace fathom::fleet
