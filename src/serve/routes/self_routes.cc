// SPDX-License-Identifier: MIT
// What the server tells of itself: /healthz, /metrics, /openapi.json, and what arrives just now.
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "fleet/http/prometheus.h"
#include "fleet/model.h"
#include "serve/routes/openapi.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

// openapi.json describes a server; `fathom view` has less. What no route answers is left out.
Response describe(const Router& router) {
  std::string text;
  for (const ApiText& file : api_texts()) text = file.text;
  auto whole = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (whole.is_discarded()) return refusal(500, "the description is damaged");
  std::set<std::string, std::less<>> served;
  for (const Route& route : router.routes()) served.emplace(route.path);
  nlohmann::ordered_json paths = nlohmann::ordered_json::object();
  for (auto& [path, operations] : whole["paths"].items()) {
    if (served.contains(path)) paths[path] = std::move(operations);
  }
  whole["paths"] = std::move(paths);
  return json_response(whole.dump(1) + "\n");
}

Response measure(const Metrics& metrics) {
  Response response = json_response(metrics.text());
  response.type = fleet::kPrometheusType;
  return response;
}

Response watch(Arrivals& arrivals, const std::string& job) {
  if (!job.empty() && !fleet::is_job_name(job))
    return refusal(400, "job must be the name of a job");
  Response response;
  response.type = "text/event-stream";
  response.headers.push_back({"Cache-Control", "no-store"});
  const auto place = std::make_shared<Arrivals::Place>(arrivals.now());
  response.ticker = [&arrivals, place, job]() -> std::optional<std::string> {
    return arrivals.since(*place, job);
  };
  return response;
}

}  // namespace

void add_description_route(Router& router) {
  router.add({"GET", "/openapi.json", Role::kRead,
              [&](Request& /*request*/) { return describe(router); }});
}

void add_self_routes(Router& router, const Subjects& subjects) {
  Metrics& metrics = router.metrics();
  Arrivals* arrivals = subjects.arrivals;
  router.add({"GET", "/healthz", Role::kNobody,
              [](Request& /*request*/) { return json_response("{\"status\":\"ok\"}\n"); }});
  router.add({"GET", "/metrics", Role::kRead,
              [&metrics](Request& /*request*/) { return measure(metrics); }});
  add_description_route(router);
  router.add({"GET", "/api/v1/events", Role::kRead,
              [arrivals](Request& r) { return watch(*arrivals, r.query["job"]); }});
}

}  // namespace fathom::serve
