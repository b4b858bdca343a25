// SPDX-License-Identifier: MIT
// Reads JSON of the engine's API (Docker's, which Podman speaks too). Each accessor checks the type
// of what it reads, so that no answer can throw.
#include "containers/engine_answers.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace fathom::containers {
namespace {

using nlohmann::json;

// Nothing, where the key or the object is missing: so that questions can be chained.
const json& member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> texts;
  const json& list = member(object, key);
  if (list.is_string()) return {list.get<std::string>()};
  if (!list.is_array()) return texts;
  for (const json& one : list) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::vector<std::string> keys_at(const json& object, const char* key) {
  std::vector<std::string> names;
  const json& mapping = member(object, key);
  if (!mapping.is_object()) return names;
  for (const auto& [name, value] : mapping.items()) names.push_back(name);
  return names;
}

std::int64_t number_at(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

bool flag_at(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}

}  // namespace

json parse_answer(std::string_view text) {
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json() : value;
}

std::string text_at(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

// An id becomes part of a path of the next call.
bool is_id(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Docker says `message`, Podman sometimes `cause`; a proxy in between says anything.
std::string refusal_in(std::string_view body) {
  constexpr std::size_t kMost = 600;
  std::string words = text_at(parse_answer(body), "message");
  if (words.empty()) words = text_at(parse_answer(body), "cause");
  if (words.empty()) words = trim(body);
  if (words.empty()) words = "it gives no reason";
  return escape_control(words.substr(0, kMost));
}

ImageFacts image_facts(const json& answer) {
  const json& config = member(answer, "Config");
  return {.id = text_at(answer, "Id"),
          .entrypoint = texts_at(config, "Entrypoint"),
          .command = texts_at(config, "Cmd"),
          .environment = texts_at(config, "Env"),
          .workdir = text_at(config, "WorkingDir"),
          .user = text_at(config, "User"),
          .volumes = keys_at(config, "Volumes"),
          .ports = keys_at(config, "ExposedPorts")};
}

ContainerState container_state(const json& answer) {
  const json& state = member(answer, "State");
  return {.running = flag_at(state, "Running"),
          .pid = number_at(state, "Pid"),
          .exit = static_cast<int>(number_at(state, "ExitCode")),
          .oom = flag_at(state, "OOMKilled"),
          .error = text_at(state, "Error"),
          .started_ns = parse_time(text_at(state, "StartedAt")),
          .finished_ns = parse_time(text_at(state, "FinishedAt")),
          .runtime = text_at(member(answer, "HostConfig"), "Runtime")};
}

std::vector<ListedContainer> listed_containers(const json& answer, const std::string& label) {
  std::vector<ListedContainer> found;
  if (!answer.is_array()) return found;
  for (const json& one : answer) {
    std::string id = text_at(one, "Id");
    if (is_id(id)) found.push_back({std::move(id), text_at(member(one, "Labels"), label.c_str())});
  }
  return found;
}

// "2024-05-01T10:00:00.123456789Z"; 0 for what was not yet, which engines write as the year 1.
std::int64_t parse_time(std::string_view text) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::string whole(text);
  std::tm parts{};
  const char* const rest = ::strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || parts.tm_year < 70) return 0;
  std::int64_t fraction = 0;
  std::int64_t scale = kSecond / 10;
  const char* at = rest;
  if (*at == '.') {
    for (++at; *at >= '0' && *at <= '9'; ++at, scale /= 10) fraction += (*at - '0') * scale;
  }
  if (*at != 'Z' || at[1] != 0) return 0;
  return static_cast<std::int64_t>(::timegm(&parts)) * kSecond + fraction;
}

void PullProgress::feed(std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  rest_ += bytes;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
    read_line(std::string_view(rest_).substr(0, end));
    rest_.erase(0, end + 1);
  }
  if (rest_.size() > kMost) rest_.clear();
}

void PullProgress::read_line(std::string_view line) {
  const std::string error = text_at(parse_answer(line), "error");
  if (!error.empty()) error_ = escape_control(error);
  if (error_.empty()) error_ = escape_control(text_at(parse_answer(line), "message"));
}

void PullProgress::refused() {
  if (error_.empty()) error_ = refusal_in(rest_);
}

}  // namespace fathom::containers
