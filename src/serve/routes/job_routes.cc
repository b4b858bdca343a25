// SPDX-License-Identifier: MIT
// Jobs and their profiles: /api/v1/jobs and below. A route checks what the client wrote, asks the
// store, and writes the answer; what may be long goes through LongAnswer row by row. How long the
// store took is measured around each call (`timed`).
#include <charconv>
#include <limits>

#include "base/escape.h"
#include "fleet/history.h"
#include "render/json_writer.h"
#include "serve/http/json_input.h"
#include "serve/http/long_answer.h"
#include "serve/routes/routes.h"
#include "serve/routes/store_call.h"

namespace fathom::serve {
namespace {

void write_job(render::JsonWriter& json, const fleet::Job& job) {
  json.begin_object().key("name").value(job.name).key("info").value(job.info);
  json.key("benchmarks").value(job.benchmarks).end_object();
}

Response bad_name(const std::string& name) {
  return refusal(400, "'" + escape_name(name.substr(0, 100)) +
                          "' cannot name a job; use up to 64 letters, digits and ._-");
}

void append_row(std::string& out, const fleet::ProfileRow& row) {
  out += "{\"node\":\"";
  render::append_json_text(out, row.node);
  out += "\",\"exec\":\"";
  render::append_json_text(out, row.exec);
  out += "\",\"event\":\"";
  render::append_json_text(out, row.event);
  out += "\",\"count\":";
  out += std::to_string(row.count);
  out += '}';
}

// Only for those who watch: an overflow here must not refuse a batch that the store would take.
std::int64_t sum_of(const std::vector<fleet::ProfileRow>& rows) {
  std::int64_t sum = 0;
  for (const fleet::ProfileRow& row : rows) {
    if (__builtin_add_overflow(sum, row.count, &sum))
      return std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

class JobRoutes {
 public:
  JobRoutes(Router& router, const Subjects& subjects)
      : store_(subjects.store), arrivals_(subjects.arrivals), metrics_(&router.metrics()) {}

  Response list(Request& request) const {
    const auto jobs = timed(*metrics_, [&] { return store_->jobs(); });
    if (!jobs) return refusal(jobs.error());
    LongAnswer answer(request.head);
    std::string text = "{\"jobs\":[";
    for (std::size_t at = 0; at < jobs->size(); ++at) {
      if (at > 0) text += ',';
      render::JsonWriter json(text);
      write_job(json, (*jobs)[at]);
      if (const Status added = answer.add(text); !added) return refusal(added.error());
      text.clear();
    }
    return ended(answer, text + "]}\n");
  }

  Response create(Request& request) const {
    const Result<fleet::Job> job = read_job(request.body);
    if (!job) return refusal(job.error());
    if (!fleet::is_job_name(job->name)) return bad_name(job->name);
    const Status made = timed(*metrics_, [&] { return store_->create(*job); });
    if (!made) return refusal(made.error());
    std::string text;
    render::JsonWriter json(text);
    json.begin_object().key("name").value(job->name).key("info").value(job->info).end_object();
    return json_response(text + "\n", 201);
  }

  Response show(Request& request) const {
    const std::string& name = request.place("job");
    if (!fleet::is_job_name(name)) return bad_name(name);
    const Result<fleet::Job> job = timed(*metrics_, [&] { return store_->job(name); });
    if (!job) return refusal(job.error());
    std::string text;
    render::JsonWriter json(text);
    write_job(json, *job);
    return json_response(text + "\n");
  }

  Response remove(Request& request) const {
    const std::string& name = request.place("job");
    if (!fleet::is_job_name(name)) return bad_name(name);
    return done(timed(*metrics_, [&] { return store_->remove(name); }));
  }

  Response clear(Request& request) const {
    const std::string& name = request.place("job");
    if (!fleet::is_job_name(name)) return bad_name(name);
    const Result<std::string> what = read_what(request.body);
    if (!what) return refusal(what.error());
    if (*what == "profile")
      return done(timed(*metrics_, [&] { return store_->clear_profile(name); }));
    if (!fleet::is_job_name(*what))
      return refusal(400, "what must be profile or a kind of records");
    return done(timed(*metrics_, [&] { return store_->clear_records(name, *what); }));
  }

  Response profile(Request& request) const {
    const std::string& name = request.place("job");
    if (!fleet::is_job_name(name)) return bad_name(name);
    LongAnswer answer(request.head);
    std::string text = "{\"rows\":[";
    Status added;
    bool first = true;
    const auto take = [&](const fleet::ProfileRow& row) {
      if (!first) text += ",\n";
      first = false;
      append_row(text, row);
      added = answer.add(text);
      text.clear();
      return added.has_value();
    };
    const Status read = timed(*metrics_, [&] { return store_->profile(name, take); });
    if (!read) return refusal(read.error());
    if (!added) return refusal(added.error());
    return ended(answer, text + "]}\n");
  }

  // What `fathom job show NAME --trend --format json` prints.
  Response trend(Request& request) const {
    const std::string& name = request.place("job");
    if (!fleet::is_job_name(name)) return bad_name(name);
    const std::string kind = request.asked("kind");
    if (!kind.empty() && !fleet::is_job_name(kind))
      return refusal(400, "that is not a kind of records");
    const Result<fleet::Job> job = timed(*metrics_, [&] { return store_->job(name); });
    if (!job) return refusal(job.error());
    Result<fleet::HistoryAnswer> answer = timed(*metrics_, [&] {
      return fleet::trend_of(*store_, name, kind.empty() ? fleet::kBenchmarks : kind);
    });
    if (!answer) {
      Error error = std::move(answer).error();
      if (error.code == Code::kInvalid) error.code = Code::kNotFound;  // it has no run
      return refusal(error);
    }
    return json_response(fleet::answer_text(*answer, render::Format::kJson, {}));
  }

  Response add_profile(Request& request) const {
    const std::string& name = request.place("job");
    if (!fleet::is_job_name(name)) return bad_name(name);
    const Result<fleet::ProfileBatch> batch = read_profile_batch(request.body);
    if (!batch) return refusal(batch.error());
    const Status added = timed(*metrics_, [&] { return store_->add_profile(name, *batch); });
    if (!added) return refusal(added.error());
    metrics_->count_batch("profile", batch->rows.size());
    arrivals_->add(name, "profile", batch->id.client, batch->rows.size(), sum_of(batch->rows));
    return json_response("{\"seq\":" + std::to_string(batch->id.seq) + "}\n");
  }

 private:
  static Response done(const Status& status) {
    return status ? json_response("{}\n") : refusal(status.error());
  }
  static Response ended(LongAnswer& answer, const std::string& end) {
    if (const Status added = answer.add(end); !added) return refusal(added.error());
    Result<Response> response = answer.finish();
    return response ? std::move(*response) : refusal(response.error());
  }

  fleet::JobStore* store_;
  Arrivals* arrivals_;
  Metrics* metrics_;
};

}  // namespace

void add_job_routes(Router& router, const Subjects& subjects) {
  const JobRoutes jobs(router, subjects);
  const std::string_view all = "/api/v1/jobs";
  const std::string_view one = "/api/v1/jobs/{job}";
  const std::string_view profile = "/api/v1/jobs/{job}/profile";
  const std::string_view trend = "/api/v1/jobs/{job}/trend";
  const std::string_view clear = "/api/v1/jobs/{job}/clear";
  router.add({"GET", all, Role::kRead, [jobs](Request& r) { return jobs.list(r); }});
  router.add({"POST", all, Role::kAdmin, [jobs](Request& r) { return jobs.create(r); }});
  router.add({"GET", one, Role::kRead, [jobs](Request& r) { return jobs.show(r); }});
  router.add({"DELETE", one, Role::kAdmin, [jobs](Request& r) { return jobs.remove(r); }});
  router.add({"POST", clear, Role::kAdmin, [jobs](Request& r) { return jobs.clear(r); }});
  router.add({"GET", profile, Role::kRead, [jobs](Request& r) { return jobs.profile(r); }});
  router.add({"GET", trend, Role::kRead, [jobs](Request& r) { return jobs.trend(r); }});
  router.add({"POST", profile, Role::kSubmit, [jobs](Request& r) { return jobs.add_profile(r); }});
}

}  // namespace fathom::serve
