// SPDX-License-Identifier: MIT
// From a request to its answer: who may ask, which route is meant, the body decompressed. Knows no
// sockets, so tests and fuzzers ask it directly.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "serve/http/admission.h"
#include "serve/http/budget.h"
#include "serve/http/http.h"
#include "serve/http/limits.h"
#include "serve/http/metrics.h"
#include "serve/http/tokens.h"

namespace fathom::serve {

// Declared once, read by any thread. Has a handler or a sink, not both.
struct Route {
  std::string_view method;
  std::string_view path;  // "/api/v1/jobs/{job}"
  Role role = Role::kAdmin;
  std::function<Response(Request& request)> handler;
  // Instead of a handler: the body is not gathered, and may be of any length.
  std::function<Result<std::unique_ptr<BodySink>>(Request& request)> sink = {};
  // The names of its parameters, as openapi.json has them: others are refused. nullopt: nobody
  // looks. One named "key" may stand for the header Fathom-Key, where a link cannot send it.
  std::optional<std::vector<std::string_view>> takes = {};
  bool needs_key = true;  // false: the page's cookie is enough
};

// Routes are added before the first request; then any thread may ask.
class Router {
 public:
  Router(TokenBook& tokens, Metrics& metrics, const Limits& limits);

  void add(Route route) { routes_.push_back(std::move(route)); }
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

  // Of browsers; before the first request. Without it any Host is welcome, and no cookie counts.
  void admit(Admission admission) { admission_ = std::move(admission); }
  [[nodiscard]] const Admission& admission() const { return admission_; }
  [[nodiscard]] TokenBook& tokens() { return *tokens_; }

  // What is known before the body comes: who asks for what. nullopt: the body is welcome.
  [[nodiscard]] std::optional<Response> refuse(const Head& head);

  // The body as it came. May take as long as the store does.
  // `instead`: Request::answer_instead.
  [[nodiscard]] Response answer(Head head, std::string body,
                                std::shared_ptr<const std::atomic<bool>> gone = {},
                                std::function<void(Response)> instead = {});

  // The same for a route that takes its body as it comes: open_sink(), then counted() for the
  // answer.
  [[nodiscard]] bool takes_stream(const Head& head);
  using Opened = std::variant<std::unique_ptr<BodySink>, Response>;
  [[nodiscard]] Opened open_sink(Head head);
  [[nodiscard]] Response counted(const Head& head, Response response);

  // Whether whoever sent this has a token, or the cookie of one.
  [[nodiscard]] bool knows(const Head& head);

  // A refusal of the door itself, which no route has seen.
  Response count(Response response, std::string_view method = "");

  [[nodiscard]] Budget& budget() { return budget_; }
  [[nodiscard]] Metrics& metrics() { return *metrics_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  struct Found;
  [[nodiscard]] Found find(const Head& head);
  [[nodiscard]] Visitor visitor(const Head& head, Role program, const Found& found);
  [[nodiscard]] static Response pour(const Route& route, Request& request);
  [[nodiscard]] static Response run(const Route& route, Request& request);
  [[nodiscard]] Result<std::string> decoded(const Head& head, std::string body,
                                            Budget::Lease& lease);

  TokenBook* tokens_;
  Metrics* metrics_;
  Limits limits_;
  Admission admission_;
  Budget budget_;
  std::vector<Route> routes_;
};

}  // namespace fathom::serve
