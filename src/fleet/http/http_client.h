// SPDX-License-Identifier: MIT
// Asks an HTTP/1.1 server: ours, Jenkins, or Docker's engine behind its Unix socket.
//
//   FATHOM_ASSIGN(HttpClient client, HttpClient::make({.url = "unix:/var/run/docker.sock"}));
//   FATHOM_ASSIGN(const HttpAnswer answer, client.ask({.target = "/v1.41/containers/json"}));
//
// Every wait has a limit and every answer a size. Boost is in the .cc alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "fleet/http/http_head.h"

namespace fathom::fleet {

// Has either `body` or `content`, which must stay open until the answer is there.
struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query; names in it by encode_segment()
  std::vector<HttpHeader> headers = {};
  std::string body = {};
  const File* content = nullptr;   // instead of a body: this file from its beginning on
  std::uint64_t content_size = 0;  // so many bytes of it
  bool repeatable = false;         // may be sent twice; GET, HEAD, PUT and DELETE always may
};

// Whole, whatever its status. Nothing in it was checked beyond what HTTP asks for.
struct HttpAnswer {
  int status = 0;
  std::vector<HttpHeader> headers = {};
  std::string body = {};

  // The value of the first such header, in any case; "" where there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    return value_of(headers, name);
  }
};

struct HttpOptions {
  std::string url;                       // http://HOST[:PORT], https://HOST[:PORT], unix:PATH
  std::vector<HttpHeader> headers = {};  // of every request
  // SHA-256 of the one certificate to trust, as hexadecimal digits; "": authorities are asked.
  std::string fingerprint = {};
  std::string ca_file = {};  // authorities; "": the system's
  std::chrono::milliseconds connect_limit{5'000};
  std::chrono::milliseconds silence_limit{30'000};  // for the next byte of an answer
  // How long requests that may be repeated are tried again: nobody answers, 429, 503.
  std::chrono::milliseconds patience{0};
  std::size_t most_bytes = std::size_t{64} << 20;  // of an answer's body
};

// One thread at a time. Keeps its connection open between requests.
class HttpClient {
 public:
  // kUsage where the URL is none.
  static Result<HttpClient> make(HttpOptions options);
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&& other) noexcept;
  ~HttpClient();

  // Any status is an answer. Errors: kUnavailable: nobody answers, or not in time; kDenied: the
  // certificate is not to be trusted; kCorrupt: what came is no HTTP, or larger than it may be.
  Result<HttpAnswer> ask(const HttpRequest& request);

  // The same, with the body given as it comes, however long it is; ends early where the function
  // says false. Never repeated.
  using TakesBytes = std::function<bool(std::string_view bytes)>;
  Result<HttpAnswer> stream(const HttpRequest& request, const TakesBytes& take);

 private:
  struct Connection;
  explicit HttpClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace fathom::fleet
