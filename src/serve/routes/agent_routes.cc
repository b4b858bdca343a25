// SPDX-License-Identifier: MIT
// Who sends to this server: GET /api/v1/agents. How many batches came from whom is what the store
// knows; when the last one came is known of what came since the server began.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sum.h"
#include "render/json_writer.h"
#include "serve/routes/routes.h"
#include "serve/routes/store_call.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kMostAgents = 10'000;

struct Sent {
  std::int64_t batches = 0;
  std::optional<std::int64_t> last = {};  // seconds since 1970
};

using JobsOfAgent = std::map<std::string, Sent>;  // by job

class AgentRoutes {
 public:
  AgentRoutes(Router& router, const Subjects& subjects)
      : store_(subjects.store), arrivals_(subjects.arrivals), metrics_(&router.metrics()) {}

  [[nodiscard]] Response list() const {
    std::map<std::string, JobsOfAgent> agents;
    const Status asked = timed(*metrics_, [&] { return add_stored(agents); });
    if (!asked) return refusal(asked.error());
    for (const ClientArrivals& one : arrivals_->heard()) {
      Sent& sent = agents[one.client][one.job];
      sent.batches = std::max(sent.batches, one.batches);
      sent.last = one.last;
    }
    return json_response(text_of(agents));
  }

 private:
  Status add_stored(std::map<std::string, JobsOfAgent>& agents) const {
    FATHOM_ASSIGN(const std::vector<fleet::Job> jobs, store_->jobs());
    for (const fleet::Job& job : jobs) {
      Status told = store_->sent(job.name, [&](const fleet::SentRange& range) {
        std::int64_t& batches = agents[range.client][job.name].batches;
        add_to(batches, range.last - range.first);
        add_to(batches, 1);
        return true;
      });
      // A job may be gone meanwhile, and a store behind another server does not tell.
      if (!told && told.error().code != Code::kNotFound && told.error().code != Code::kUnsupported)
        return told;
    }
    return {};
  }

  [[nodiscard]] std::string text_of(const std::map<std::string, JobsOfAgent>& agents) const {
    std::string text;
    render::JsonWriter json(text);
    json.begin_object().key("now").value(arrivals_->now().next).key("agents").begin_array();
    std::size_t told = 0;
    for (const auto& [client, jobs] : agents) {
      if (told++ >= kMostAgents) break;
      write_agent(json, client, jobs);
    }
    json.end_array().key("left_out");
    json.value(static_cast<std::int64_t>(agents.size() - std::min(agents.size(), kMostAgents)));
    json.end_object();
    return text + "\n";
  }

  static void write_agent(render::JsonWriter& json, const std::string& client,
                          const JobsOfAgent& jobs) {
    json.begin_object().key("client").value(client).key("jobs").begin_array();
    for (const auto& [job, sent] : jobs) {
      json.begin_object().key("job").value(job).key("batches").value(sent.batches);
      if (sent.last) json.key("last").value(*sent.last);
      json.end_object();
    }
    json.end_array().end_object();
  }

  fleet::JobStore* store_;
  Arrivals* arrivals_;
  Metrics* metrics_;
};

}  // namespace

void add_agent_routes(Router& router, const Subjects& subjects) {
  const AgentRoutes routes(router, subjects);
  router.add(
      {"GET", "/api/v1/agents", Role::kRead, [=](Request& /*request*/) { return routes.list(); }});
}

}  // namespace fathom::serve
