// SPDX-License-Identifier: MIT
// From a request to its answer: who may ask, which route is meant, the body decompressed. Knows no
// sockets, so tests and fuzzers ask it directly.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/budget.h"
#include "serve/http.h"
#include "serve/limits.h"
#include "serve/metrics.h"
#include "serve/tokens.h"

namespace fathom::serve {

struct Route {
  std::string_view method;
  std::string_view path;  // "/api/v1/jobs/{job}"
  Role role = Role::kAdmin;
  std::function<Response(Request& request)> handler;
};

// Routes are added before the first request; then any thread may ask.
class Router {
 public:
  Router(TokenBook& tokens, Metrics& metrics, const Limits& limits);

  void add(Route route) { routes_.push_back(std::move(route)); }
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

  // What is known before the body comes: who asks for what. nullopt: the body is welcome.
  [[nodiscard]] std::optional<Response> refuse(const Head& head);

  // The body as it came. May take as long as the store does.
  [[nodiscard]] Response answer(Head head, std::string body);

  // A refusal of the door itself, which no route has seen.
  Response count(Response response, std::string_view method = "");

  [[nodiscard]] Budget& budget() { return budget_; }
  [[nodiscard]] Metrics& metrics() { return *metrics_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  struct Found;
  [[nodiscard]] Found find(const Head& head);
  [[nodiscard]] Response run(const Route& route, Request& request);
  [[nodiscard]] Result<std::string> decoded(const Head& head, std::string body,
                                            Budget::Lease& lease);

  TokenBook* tokens_;
  Metrics* metrics_;
  Limits limits_;
  Budget budget_;
  std::vector<Route> routes_;
};

}  // namespace fathom::serve
