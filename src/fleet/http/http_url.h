// SPDX-License-Identifier: MIT
// Where a server is: the parts of its URL.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

// Checked: host, port and prefix hold nothing that would end a line of a request's head.
struct HttpUrl {
  bool tls = false;
  std::string host;  // without brackets; "localhost" for a Unix socket
  std::string port;
  std::string socket;  // the path of a Unix socket; "" for TCP
  std::string prefix;  // a path that stands before every target, without its last "/"

  // The value of the header Host.
  [[nodiscard]] std::string authority() const;
};

// "http://HOST[:PORT][/PREFIX]", "https://…", "unix:PATH"; kUsage for anything else.
Result<HttpUrl> parse_http_url(std::string_view text);

}  // namespace fathom::fleet
