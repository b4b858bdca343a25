// SPDX-License-Identifier: MIT
// A store at the other end of HTTP: JobStore's calls as requests of the API that serve answers
// (src/serve/routes/openapi.json). Bodies are written by hand, without a tree in between, since
// agents send ten thousand rows at a time; answers are read by remote_answers.h.
//
// What may be sent twice says so (`repeatable`): batches have numbers and count once, clearing
// twice is clearing. Making a job does not: the second attempt would find the work of the first and
// call it an error.
#include "fleet/stores/remote_store.h"

#include <simdjson.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "fleet/http/encodings.h"
#include "fleet/http/http_client.h"
#include "fleet/stores/remote_answers.h"
#include "render/json_writer.h"

namespace fathom::fleet {
namespace {

constexpr char kJobs[] = "/api/v1/jobs";
constexpr char kKinds[] = "/api/v1/kinds";
constexpr std::size_t kLargestAnswer = std::size_t{2} << 30;

std::string job_path(const std::string& job, const std::string& what = "") {
  return std::string(kJobs) + "/" + encode_segment(job) + (what.empty() ? "" : "/" + what);
}

// Benchmarks are a kind with a route of its own, which is older than kinds.
std::string records_path(const std::string& job, const std::string& kind) {
  return job_path(job, kind == kBenchmarks ? "benchmarks" : "records/" + encode_segment(kind));
}

void append_text_field(std::string& out, std::string_view key, std::string_view value) {
  out += '"';
  out += key;
  out += "\":\"";
  render::append_json_text(out, value);
  out += "\",";
}

void append_id(std::string& out, const BatchId& id) {
  append_text_field(out, "client", id.client);
  out += "\"seq\":" + std::to_string(id.seq) + ",";
}

std::string profile_body(const ProfileBatch& batch) {
  std::string out = "{";
  append_id(out, batch.id);
  out += "\"rows\":[";
  for (const ProfileRow& row : batch.rows) {
    if (out.back() != '[') out += ',';
    out += '{';
    append_text_field(out, "node", row.node);
    append_text_field(out, "exec", row.exec);
    append_text_field(out, "event", row.event);
    out += "\"count\":" + std::to_string(row.count) + "}";
  }
  return out + "]}";
}

std::string records_body(const RecordBatch& batch) {
  std::string out = "{";
  append_id(out, batch.id);
  return out + "\"records\":[" + join(batch.records, ",") + "]}";
}

std::string object_of(std::initializer_list<std::pair<const char*, std::string>> fields) {
  std::string out;
  render::JsonWriter json(out);
  json.begin_object();
  for (const auto& [key, value] : fields) json.key(key).value(value);
  json.end_object();
  return out;
}

class RemoteStore : public JobStore {
 public:
  explicit RemoteStore(HttpClient client) : client_(std::move(client)) {}

  Result<std::vector<Job>> jobs() override {
    FATHOM_ASSIGN(const std::string text, get(kJobs));
    return parse_jobs(text);
  }

  Result<Job> job(const std::string& name) override {
    FATHOM_ASSIGN(const std::string text, get(job_path(name)));
    return parse_job(text);
  }

  Status create(const Job& job) override {
    return send("POST", kJobs, object_of({{"name", job.name}, {"info", job.info}}), false);
  }

  Status remove(const std::string& job) override {
    return send("DELETE", job_path(job), "", false);
  }

  Status add_profile(const std::string& job, const ProfileBatch& batch) override {
    return send("POST", job_path(job, "profile"), profile_body(batch), true);
  }

  Status add_records(const std::string& job, const std::string& kind,
                     const RecordBatch& batch) override {
    return send("POST", records_path(job, kind), records_body(batch), true);
  }

  Status profile(const std::string& job, const TakesRow& take) override {
    FATHOM_ASSIGN(std::string text, get(job_path(job, "profile")));
    return parse_profile(text, take);
  }

  Status records(const std::string& job, const std::string& kind, std::int64_t from,
                 const TakesRecord& take) override {
    FATHOM_ASSIGN(std::string text, get(records_path(job, kind) + "?from=" + std::to_string(from)));
    return parse_records(text, from, take);
  }

  Status clear_profile(const std::string& job) override { return clear(job, "profile"); }
  Status clear_records(const std::string& job, const std::string& kind) override {
    return clear(job, kind);
  }

  Result<std::vector<RecordKind>> kinds() override {
    FATHOM_ASSIGN(const std::string text, get(kKinds));
    return parse_kinds(text);
  }

  Status add_kind(const RecordKind& kind) override {
    const std::string body = R"({"name":")" + kind.name + R"(","schema":)" + kind.schema + "}";
    return send("POST", kKinds, body, true);
  }

 private:
  Status clear(const std::string& job, const std::string& what) {
    return send("POST", job_path(job, "clear"), object_of({{"what", what}}), true);
  }

  Result<std::string> get(const std::string& target) {
    return call({.method = "GET", .target = target});
  }

  Status send(const std::string& method, const std::string& target, std::string body,
              bool repeatable) {
    FATHOM_TRY(call({.method = method,
                     .target = target,
                     .headers = {{"Content-Type", "application/json"}},
                     .body = std::move(body),
                     .repeatable = repeatable}));
    return {};
  }

  // HttpClient is one thread's at a time, a JobStore is any thread's: they take turns, also while
  // an answer is waited for.
  Result<std::string> call(const HttpRequest& request) {
    const std::scoped_lock guard(mutex_);
    FATHOM_ASSIGN(HttpAnswer answer, client_.ask(request));
    if (answer.status / 100 == 2) return std::move(answer.body);
    return refusal_of(answer);
  }

  std::mutex mutex_;
  HttpClient client_;
};

}  // namespace

Result<std::unique_ptr<JobStore>> open_remote_store(const RemoteOptions& options) {
  HttpOptions http;
  http.url = options.url;
  if (!options.token.empty()) http.headers.push_back({"Authorization", "Bearer " + options.token});
  http.fingerprint = options.fingerprint;
  http.ca_file = options.ca_file;
  http.connect_limit = options.connect_limit;
  http.patience = options.patience;
  http.most_bytes = kLargestAnswer;
  FATHOM_ASSIGN(HttpClient client, HttpClient::make(std::move(http)));
  return std::unique_ptr<JobStore>(std::make_unique<RemoteStore>(std::move(client)));
}

}  // namespace fathom::fleet
