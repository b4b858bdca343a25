// SPDX-License-Identifier: MIT
// Writes status line and headers. Every answer says no-store unless it has its own Cache-Control:
// recordings grow, and tokens must not stay in caches.
#include "serve/http/answer_head.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::serve {

std::string answer_head(const Response& response, bool is_stream) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nServer: fathom\r\nContent-Type: {}\r\n",
                                 response.status, status_words(response.status), response.type);
  text += "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n";
  const bool is_kept = std::ranges::any_of(
      response.headers, [](const Header& header) { return header.name == "Cache-Control"; });
  if (!is_kept) text += "Cache-Control: no-store\r\n";
  for (const Header& header : response.headers)
    text += fmt::format("{}: {}\r\n", header.name, header.value);
  if (is_stream) {
    text += "Transfer-Encoding: chunked\r\nConnection: close\r\n";
  } else {
    text += fmt::format("Content-Length: {}\r\n", response.body.size());
    if (response.closes) text += "Connection: close\r\n";
  }
  return text + "\r\n";
}

std::string as_chunk(std::string_view text) {
  if (text.empty()) return {};  // an empty chunk would be the last
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace fathom::serve
