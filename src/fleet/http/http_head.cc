// SPDX-License-Identifier: MIT
// Names of headers are ASCII: no locale decides what a letter is.
#include "fleet/http/http_head.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::fleet {
namespace {

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::pair<int, std::string_view> kStatusWords[] = {
    {200, "OK"},
    {201, "Created"},
    {206, "Partial Content"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, small, small);
}

std::string small_letters(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), small);
  return made;
}

std::string_view value_of(const std::vector<HttpHeader>& headers, std::string_view name) {
  const auto found = std::ranges::find_if(
      headers, [&](const HttpHeader& header) { return same_letters(header.name, name); });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

std::size_t HttpHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      headers, [&](const HttpHeader& header) { return same_letters(header.name, name); }));
}

std::string_view status_words(int status) {
  const auto* const found =
      std::ranges::find(kStatusWords, status, [](const auto& row) { return row.first; });
  return found == std::end(kStatusWords) ? "Unknown" : found->second;
}

}  // namespace fathom::fleet
