// SPDX-License-Identifier: MIT
// From a request's head to a route or a refusal. A stranger gets the same answer whatever it asks
// for: the token is looked at before the path, so that nobody learns from a 404 or 405 which paths
// there are.
#include "serve/http/router.h"

#include <algorithm>
#include <exception>
#include <new>

#include "base/escape.h"
#include "serve/http/coding.h"
#include "serve/http/target.h"

namespace fathom::serve {

// What a request leads to: a route, or a refusal.
struct Router::Found {
  const Route* route = nullptr;
  std::string_view path = "other";  // for /metrics
  Request request = {};
  std::optional<Response> refused = {};
};

namespace {

constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "DELETE"};

// A label of ours, whatever the client calls it.
std::string_view known_method(std::string_view method) {
  for (const std::string_view known : kMethods) {
    if (known == method) return known;
  }
  return "other";
}

Response no_token() {
  return refusal(401, "a token is needed: Authorization: Bearer TOKEN", "token");
}

Response no_key() {
  return refusal(401,
                 "the page's cookie needs the page's key beside it (header Fathom-Key); open the "
                 "address that fathom printed",
                 "key");
}

bool takes(const Route& route, std::string_view name) {
  return route.takes && std::ranges::find(*route.takes, name) != route.takes->end();
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "none" : text;
}

// A name that nobody knows is a slip: what it was to select would be left unselected.
std::optional<Response> refuse_parameters(const Route& route,
                                          const std::map<std::string, std::string>& query) {
  if (!route.takes) return std::nullopt;
  for (const auto& [name, value] : query) {
    if (takes(route, name)) continue;
    return refusal(400, "there is no parameter '" + escape_name(name.substr(0, 100)) +
                            "'; this path takes " + listed(*route.takes));
  }
  return std::nullopt;
}

Response wrong_role(Role needed) {
  return refusal(403, "this needs a token of role " + std::string(name_of(needed)), "role");
}

Response busy() {
  return refusal(429, "the server has no memory left for a body of this size now", "memory");
}

}  // namespace

Router::Router(TokenBook& tokens, Metrics& metrics, const Limits& limits)
    : tokens_(&tokens), metrics_(&metrics), limits_(limits), budget_(limits.memory) {}

// A cookie comes with whatever a browser is made to send: it lets its owner look, and no more.
Visitor Router::visitor(const Head& head, Role program, const Found& found) {
  if (program != Role::kNobody) return {program, /*has_key=*/true};
  std::string_view key = head.header("fathom-key");
  if (found.route != nullptr && takes(*found.route, "key")) {
    const auto asked = found.request.query.find("key");
    if (asked != found.request.query.end()) key = asked->second;
  }
  Visitor visitor = tokens_->visitor(cookie_values(head, admission_.cookie), key);
  visitor.role = std::min(Role::kRead, visitor.role);
  return visitor;
}

// Before a route is known: the server keeps connections of those who have shown something.
bool Router::knows(const Head& head) {
  return tokens_->role_of(head.header("authorization")) != Role::kNobody ||
         tokens_->visitor(cookie_values(head, admission_.cookie), "").role != Role::kNobody;
}

Router::Found Router::find(const Head& head) {
  Found found;
  const Role program = tokens_->role_of(head.header("authorization"));
  found.refused = refuse_stranger(admission_, head, program != Role::kNobody);
  if (found.refused) return found;
  Result<Target> target = parse_target(head.target);
  std::string allowed;
  if (target) {
    for (const Route& route : routes_) {
      if (!matches(route.path, target->parts, found.request.places)) continue;
      found.path = route.path;
      if (route.method == head.method) found.route = &route;
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    }
    found.request.query = std::move(target->query);
  }
  const auto [role, has_key] = visitor(head, program, found);
  found.request.role = role;
  found.request.has_key = has_key;
  if (found.route != nullptr && found.route->role == Role::kNobody) return found;
  if (role == Role::kNobody) {
    found.refused = no_token();
  } else if (!has_key && (found.route == nullptr || found.route->needs_key)) {
    found.refused = no_key();
  } else if (!target) {
    found.refused = refusal(target.error());
  } else if (allowed.empty()) {
    found.refused = refusal(404, "there is no such path; /openapi.json lists the paths");
  } else if (found.route == nullptr) {
    found.refused = refusal(405, "this path takes " + allowed);
    found.refused->headers.push_back({"Allow", allowed});
  } else if (role < found.route->role) {
    found.refused = wrong_role(found.route->role);
  } else {
    found.refused = refuse_parameters(*found.route, found.request.query);
  }
  return found;
}

std::optional<Response> Router::refuse(const Head& head) {
  Found found = find(head);
  if (!found.refused) return std::nullopt;
  metrics_->count_request(found.path, known_method(head.method), found.refused->status);
  if (!found.refused->reason.empty()) metrics_->count_refusal(found.refused->reason);
  return std::move(found.refused);
}

Response Router::count(Response response, std::string_view method) {
  metrics_->count_request("other", known_method(method), response.status);
  if (!response.reason.empty()) metrics_->count_refusal(response.reason);
  return response;
}

bool Router::takes_stream(const Head& head) {
  const Found found = find(head);
  return found.route != nullptr && found.route->sink != nullptr;
}

Router::Opened Router::open_sink(Head head) {
  Found found = find(head);
  if (found.refused) return std::move(*found.refused);
  found.request.head = std::move(head);
  Result<std::unique_ptr<BodySink>> sink = found.route->sink(found.request);
  if (!sink) return refusal(sink.error());
  return std::move(*sink);
}

Response Router::counted(const Head& head, Response response) {
  metrics_->count_request(find(head).path, known_method(head.method), response.status);
  return response;
}

// Little is decompressed at once; for more, a share of the memory is asked for.
Result<std::string> Router::decoded(const Head& head, std::string body, Budget::Lease& lease) {
  FATHOM_ASSIGN(const Coding coding, coding_named(head.header("content-encoding")));
  if (coding == Coding::kIdentity) return body;
  Result<std::string> little = decode(coding, body, limits_.free_memory);
  if (little || little.error().code != Code::kFull) return little;
  if (!lease.resize(limits_.body_bytes))
    return Error{Code::kUnavailable, "no memory left to decompress the body now", ""};
  return decode(coding, body, limits_.body_bytes);
}

// A body that is here already goes into a sink at once.
Response Router::pour(const Route& route, Request& request) {
  Result<std::unique_ptr<BodySink>> sink = route.sink(request);
  if (!sink) return refusal(sink.error());
  if (const Status written = (*sink)->write(request.body); !written)
    return refusal(written.error());
  return (*sink)->finish();
}

Response Router::run(const Route& route, Request& request) {
  try {
    return route.sink ? pour(route, request) : route.handler(request);
  } catch (const std::bad_alloc&) {
    return refusal(503, "out of memory", "memory");
  } catch (const std::exception& error) {
    return refusal(500, std::string("unexpected: ") + error.what());
  }
}

Response Router::answer(Head head, std::string body, std::shared_ptr<const std::atomic<bool>> gone,
                        std::function<void(Response)> instead) {
  Found found = find(head);
  Response response;
  Budget::Lease lease(budget_);
  if (found.refused) {  // the token was removed meanwhile
    response = std::move(*found.refused);
  } else if (Result<std::string> whole = decoded(head, std::move(body), lease); !whole) {
    const Code code = whole.error().code;
    if (code == Code::kUnavailable) {
      response = busy();
    } else if (code == Code::kFull) {
      response = refusal(413, whole.error().message, "body size");
    } else {
      response = refusal(code == Code::kUnsupported ? 415 : 400, whole.error().message);
    }
  } else if (whole->size() > limits_.free_memory && !lease.resize(kParsingShare * whole->size())) {
    response = busy();
  } else {
    found.request.body = std::move(*whole);
    found.request.head = std::move(head);
    found.request.gone = std::move(gone);
    found.request.answer_instead = std::move(instead);
    response = run(*found.route, found.request);
    head = std::move(found.request.head);
  }
  metrics_->count_request(found.path, known_method(head.method), response.status);
  if (!response.reason.empty()) metrics_->count_refusal(response.reason);
  return response;
}

}  // namespace fathom::serve
