// SPDX-License-Identifier: MIT
// Answers of a server into rows and records. Long ones are read in one pass by simdjson, which
// keeps nothing of what has gone by; short ones as a tree. The server may be anybody's, or a
// proxy's page of an error: what does not look like an answer of ours is kCorrupt, not a store
// without jobs.
#include "fleet/stores/remote_answers.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/text.h"
#include "base/utf8.h"

namespace fathom::fleet {
namespace {

namespace od = simdjson::ondemand;
using Json = nlohmann::json;

constexpr std::size_t kLongestWords = 500;

Error odd() {
  return {Code::kCorrupt, "the answer is not from a Fathom server",
          "is the URL that of a Fathom server?"};
}

Result<Json> parse_object(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return odd();
  return json;
}

bool read_text(const Json& json, const char* key, std::string& out) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return false;
  out = found->get<std::string>();
  return true;
}

Result<Job> read_job(const Json& json) {
  Job job;
  if (!json.is_object() || !read_text(json, "name", job.name) || !read_text(json, "info", job.info))
    return odd();
  const auto benchmarks = json.find("benchmarks");
  if (benchmarks != json.end() && benchmarks->is_number_integer())
    job.benchmarks = benchmarks->get<std::int64_t>();
  return job;
}

// simdjson checks UTF-8 only where it validates the whole document, which reading on demand does
// not.
bool take_text(od::object& object, const char* key, std::string& out) {
  std::string_view text;
  if (object[key].get_string().get(text) != simdjson::SUCCESS || !is_valid_utf8(text)) return false;
  out = text;
  return true;
}

bool take_row(od::object object, ProfileRow& row) {
  return take_text(object, "node", row.node) && take_text(object, "exec", row.exec) &&
         take_text(object, "event", row.event) &&
         object["count"].get_int64().get(row.count) == simdjson::SUCCESS && row.count >= 0;
}

// Calls `take` with each object of the array that is the answer's one field.
template <class Take>
Status for_each_object(std::string& text, const char* field, Take take) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  od::parser parser;
  od::document document;
  od::array items;
  if (parser.iterate(text.data(), text.size(), text.capacity()).get(document) !=
          simdjson::SUCCESS ||
      document[field].get_array().get(items) != simdjson::SUCCESS)
    return odd();
  for (auto item : items) {
    od::object object;
    if (item.get_object().get(object) != simdjson::SUCCESS) return odd();
    FATHOM_ASSIGN(const bool go_on, take(object));
    if (!go_on) return {};
  }
  return {};
}

// As serve/http/http.cc maps Codes to statuses, backwards. What we do not know is a server in
// trouble: it may pass.
Code code_of(int status) {
  switch (status) {
    case 400:
    case 413:
    case 415:
      return Code::kInvalid;
    case 401:
    case 403:
      return Code::kDenied;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kExists;
    case 507:
      return Code::kFull;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

Result<std::vector<Job>> parse_jobs(const std::string& text) {
  FATHOM_ASSIGN(const Json json, parse_object(text));
  const auto list = json.find("jobs");
  if (list == json.end() || !list->is_array()) return odd();
  std::vector<Job> jobs;
  for (const Json& item : *list) {
    FATHOM_ASSIGN(Job job, read_job(item));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<Job> parse_job(const std::string& text) {
  FATHOM_ASSIGN(const Json json, parse_object(text));
  return read_job(json);
}

Result<std::vector<RecordKind>> parse_kinds(const std::string& text) {
  FATHOM_ASSIGN(const Json json, parse_object(text));
  const auto list = json.find("kinds");
  if (list == json.end() || !list->is_array()) return odd();
  std::vector<RecordKind> kinds;
  for (const Json& item : *list) {
    RecordKind kind;
    if (!item.is_object() || !read_text(item, "name", kind.name) || !item.contains("schema"))
      return odd();
    kind.schema = item["schema"].dump(-1, ' ', false, Json::error_handler_t::replace);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

Status parse_profile(std::string& text, const JobStore::TakesRow& take) {
  ProfileRow row;
  return for_each_object(text, "rows", [&](od::object object) -> Result<bool> {
    if (!take_row(object, row)) return odd();
    return take(row);
  });
}

Status parse_records(std::string& text, std::int64_t from, const JobStore::TakesRecord& take) {
  std::int64_t index = from;
  return for_each_object(text, "records", [&](od::object object) -> Result<bool> {
    std::string_view raw;
    if (object.raw_json().get(raw) != simdjson::SUCCESS) return odd();
    return take(index++, std::string(trim(raw)));
  });
}

Error refusal_of(const HttpAnswer& answer) {
  const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  std::string words;
  if (!json.is_object() || !read_text(json, "error", words))
    words = "the server answered with status " + std::to_string(answer.status);
  std::string hint;
  if (answer.status == 401) hint = "give a good one by --token-file or FATHOM_TOKEN";
  return {code_of(answer.status), escape_control(words.substr(0, kLongestWords)), hint};
}

}  // namespace fathom::fleet
