// SPDX-License-Identifier: MIT
// Records of benchmarks, and of kinds that somebody registered with a schema. The store checks them
// (fleet/stores/checked_store.h), here as in a command that has no server.
#include "base/escape.h"
#include "base/text.h"
#include "render/json_writer.h"
#include "serve/http/json_input.h"
#include "serve/http/long_answer.h"
#include "serve/routes/routes.h"
#include "serve/routes/store_call.h"

namespace fathom::serve {
namespace {

Response bad_name(std::string_view what, const std::string& name) {
  return refusal(400, "'" + escape_name(name.substr(0, 100)) + "' cannot name a " +
                          std::string(what) + "; use up to 64 letters, digits and ._-");
}

// Benchmarks are a kind like others with a path of their own, which is older.
class RecordRoutes {
 public:
  RecordRoutes(Router& router, const Subjects& subjects)
      : store_(subjects.store), arrivals_(subjects.arrivals), metrics_(&router.metrics()) {}

  Response list(Request& request, const std::string& kind) const {
    const std::string& job = request.place("job");
    if (!fleet::is_job_name(job)) return bad_name("job", job);
    if (!fleet::is_job_name(kind)) return bad_name("kind", kind);
    Result<std::int64_t> from = std::int64_t{0};
    if (request.query.contains("from")) from = parse_int(request.query["from"]);
    if (!from || *from < 0) return refusal(400, "from must be a whole number from 0");
    LongAnswer answer(request.head);
    Status added = answer.add("{\"records\":[");
    bool first = true;
    const auto take = [&](std::int64_t /*index*/, const std::string& record) {
      added = answer.add(first ? record : ",\n" + record);
      first = false;
      return added.has_value();
    };
    const Status read = timed(*metrics_, [&] { return store_->records(job, kind, *from, take); });
    if (!read) return refusal(read.error());
    if (added) added = answer.add("]}\n");
    if (!added) return refusal(added.error());
    Result<Response> response = answer.finish();
    return response ? std::move(*response) : refusal(response.error());
  }

  Response add(Request& request, const std::string& kind) const {
    const std::string& job = request.place("job");
    if (!fleet::is_job_name(job)) return bad_name("job", job);
    if (!fleet::is_job_name(kind)) return bad_name("kind", kind);
    const Result<fleet::RecordBatch> batch = read_record_batch(request.body);
    if (!batch) return refusal(batch.error());
    const Status added = timed(*metrics_, [&] { return store_->add_records(job, kind, *batch); });
    if (!added) return refusal(added.error());
    metrics_->count_batch(kind, batch->records.size());
    arrivals_->add(job, kind, batch->id.client, batch->records.size(), 0);
    return json_response("{\"seq\":" + std::to_string(batch->id.seq) + "}\n");
  }

  Response kinds(Request& /*request*/) const {
    const auto kinds = timed(*metrics_, [&] { return store_->kinds(); });
    if (!kinds) return refusal(kinds.error());
    std::string text = "{\"kinds\":[";
    for (const fleet::RecordKind& kind : *kinds) {
      if (text.back() != '[') text += ',';
      text += "{\"name\":\"" + kind.name + "\",\"schema\":" + kind.schema + "}";
    }
    return json_response(text + "]}\n");
  }

  Response add_kind(Request& request) const {
    const Result<fleet::RecordKind> kind = read_kind(request.body);
    if (!kind) return refusal(kind.error());
    if (!fleet::is_job_name(kind->name)) return bad_name("kind", kind->name);
    if (kind->name == fleet::kBenchmarks || kind->name == "profile")
      return refusal(400, "'" + kind->name + "' is a kind of Fathom's own");
    const Status added = timed(*metrics_, [&] { return store_->add_kind(*kind); });
    if (!added) return refusal(added.error());
    return json_response("{\"name\":\"" + kind->name + "\"}\n", 201);
  }

 private:
  fleet::JobStore* store_;
  Arrivals* arrivals_;
  Metrics* metrics_;
};

}  // namespace

void add_record_routes(Router& router, const Subjects& subjects) {
  const RecordRoutes routes(router, subjects);
  const std::string_view benchmarks = "/api/v1/jobs/{job}/benchmarks";
  const std::string_view records = "/api/v1/jobs/{job}/records/{kind}";
  const std::string_view kinds = "/api/v1/kinds";
  const std::string benchmark(fleet::kBenchmarks);
  router.add(
      {"GET", benchmarks, Role::kRead, [=](Request& r) { return routes.list(r, benchmark); }});
  router.add(
      {"POST", benchmarks, Role::kSubmit, [=](Request& r) { return routes.add(r, benchmark); }});
  router.add(
      {"GET", records, Role::kRead, [=](Request& r) { return routes.list(r, r.place("kind")); }});
  router.add(
      {"POST", records, Role::kSubmit, [=](Request& r) { return routes.add(r, r.place("kind")); }});
  router.add({"GET", kinds, Role::kRead, [=](Request& r) { return routes.kinds(r); }});
  router.add({"POST", kinds, Role::kAdmin, [=](Request& r) { return routes.add_kind(r); }});
}

}  // namespace fathom::serve
