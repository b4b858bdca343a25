// SPDX-License-Identifier: MIT
// Words and statuses of HTTP. A refusal tells what is wrong in JSON, as every answer of the API.
#include "serve/http.h"

#include <algorithm>

#include "render/json_writer.h"

namespace fathom::serve {
namespace {

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

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int status_of(Code code) {
  switch (code) {
    case Code::kUsage:
    case Code::kInvalid:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kDenied:
      return 403;
    case Code::kExists:
      return 409;
    case Code::kUnavailable:
      return 503;
    case Code::kFull:
      return 507;
    case Code::kIo:
    case Code::kCorrupt:
    case Code::kUnsupported:
      return 500;
  }
  return 500;
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view Head::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      headers, [&](const Header& header) { return same_letters(header.name, name); });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

std::string Request::asked(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

std::string_view status_words(int status) {
  const auto* const found =
      std::ranges::find(kStatusWords, status, [](const auto& row) { return row.first; });
  return found == std::end(kStatusWords) ? "Unknown" : found->second;
}

Response refusal(int status, std::string_view what, std::string reason) {
  Response response;
  response.status = status;
  render::JsonWriter json(response.body.text);
  json.begin_object().key("error").value(what).end_object();
  response.body.text += '\n';
  response.reason = std::move(reason);
  if (status == 429 || status == 503) response.headers.push_back({"Retry-After", "1"});
  if (status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer realm=\"fathom\""});
  return response;
}

Response refusal(const Error& error) {
  return refusal(status_of(error.code),
                 error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

Response json_response(std::string text, int status) {
  Response response;
  response.status = status;
  response.body.text = std::move(text);
  return response;
}

}  // namespace fathom::serve
