// SPDX-License-Identifier: MIT
// As much of HTTP as a build server needs: a request, and the whole answer.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

struct WebRequest {
  std::string method = "GET";
  std::string path;  // with its query, from the server's root
  std::map<std::string, std::string> headers;
  std::string body;
};

struct WebReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in small letters
  std::string body;
};

// An interface, so that tests stand in for a build server. One thread at a time; ask() returns when
// the whole answer is there, or a limit of time has passed.
class Web {
 public:
  virtual ~Web() = default;
  // kUnavailable where nobody answers. A status of failure is an answer. Redirections are not
  // followed.
  virtual Result<WebReply> ask(const WebRequest& request) = 0;

 protected:
  Web() = default;
  Web(const Web&) = default;
  Web& operator=(const Web&) = default;
};

// A server by its URL: http://HOST[:PORT]/…, https://….
Result<std::unique_ptr<Web>> open_web(const std::string& url);

}  // namespace fathom::fleet
