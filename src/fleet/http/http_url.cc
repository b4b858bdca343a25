// SPDX-License-Identifier: MIT
// URLs come from users and from files of theirs: what is odd is refused, not guessed at.
#include "fleet/http/http_url.h"

#include <algorithm>

#include "base/escape.h"
#include "base/text.h"

namespace fathom::fleet {
namespace {

Error no_url(std::string_view text) {
  return usage_error("'" + escape_name(text) + "' is not the URL of a server",
                     "use http://HOST:PORT, https://HOST:PORT or unix:PATH");
}

bool is_host_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
         c == '-' || c == '_';
}

bool is_host(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_host_character);
}

bool is_address(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c == ':' || c == '%' || is_host_character(c);
  });
}

bool is_port(std::string_view text) {
  const Result<std::int64_t> number = parse_int(text);
  return number && *number > 0 && *number < 65536;
}

bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

}  // namespace

std::string HttpUrl::authority() const {
  if (!socket.empty()) return "localhost";
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? "443" : "80") ? shown : shown + ":" + port;
}

Result<HttpUrl> parse_http_url(std::string_view text) {
  HttpUrl url;
  std::string_view rest = text;
  if (rest.starts_with("unix:")) {
    url.host = "localhost";
    url.socket = rest.substr(rest.starts_with("unix://") ? 7 : 5);
    return url.socket.empty() ? Result<HttpUrl>(no_url(text)) : url;
  }
  url.tls = rest.starts_with("https://");
  if (!url.tls && !rest.starts_with("http://")) return no_url(text);
  rest.remove_prefix(url.tls ? 8 : 7);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  rest = rest.substr(0, slash);
  const bool bracketed = rest.starts_with('[');
  const std::size_t end = bracketed ? rest.find(']') : std::min(rest.find(':'), rest.size());
  if (end == std::string_view::npos) return no_url(text);
  url.host = rest.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0));
  const std::string_view port = rest.substr(bracketed ? end + 1 : end);
  url.port = port.empty() ? (url.tls ? "443" : "80") : std::string(port.substr(1));
  const bool good = (bracketed ? is_address(url.host) : is_host(url.host)) && is_port(url.port) &&
                    (port.empty() || port[0] == ':') && std::ranges::all_of(url.prefix, is_visible);
  return good ? Result<HttpUrl>(url) : no_url(text);
}

}  // namespace fathom::fleet
