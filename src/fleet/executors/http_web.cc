// SPDX-License-Identifier: MIT
// The client of HTTP that all of the fleet uses, as executors see it.
#include <algorithm>
#include <cctype>
#include <utility>

#include "fleet/executors/web.h"
#include "fleet/http/http_client.h"

namespace fathom::fleet {
namespace {

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

class HttpWeb : public Web {
 public:
  explicit HttpWeb(HttpClient client) : client_(std::move(client)) {}

  Result<WebReply> ask(const WebRequest& request) override {
    HttpRequest asked{.method = request.method, .target = request.path, .body = request.body};
    for (const auto& [name, value] : request.headers) asked.headers.push_back({name, value});
    FATHOM_ASSIGN(const HttpAnswer answer, client_.ask(asked));
    WebReply reply;
    reply.status = answer.status;
    reply.body = answer.body;
    for (const HttpHeader& header : answer.headers)
      reply.headers.try_emplace(in_small_letters(header.name), header.value);
    return reply;
  }

 private:
  HttpClient client_;
};

}  // namespace

Result<std::unique_ptr<Web>> open_web(const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? host : url.find('/', host + 3);
  HttpOptions options;
  options.url = url.substr(0, path);
  constexpr std::chrono::milliseconds kPatience{2'000};
  options.patience = kPatience;
  FATHOM_ASSIGN(HttpClient client, HttpClient::make(std::move(options)));
  return std::unique_ptr<Web>(std::make_unique<HttpWeb>(std::move(client)));
}

}  // namespace fathom::fleet
