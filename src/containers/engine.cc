// SPDX-License-Identifier: MIT
// The calls of Docker's API that are needed, and no others. Answers are read with care: what has
// another form than documented is as if it were not there. Docker and Podman differ in when they
// notice a mistake and in what they call it; a refusal is handed on in the engine's own words,
// which its users know.
#include "containers/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "containers/engine_answers.h"
#include "fleet/http/encodings.h"

namespace fathom::containers {
namespace {

using fleet::encode_segment;
using fleet::HttpAnswer;
using fleet::HttpRequest;
using nlohmann::json;

constexpr char kStartOne[] =
    "start one (systemctl start docker), or name its socket in DOCKER_HOST";
constexpr int kHeadMs = 30'000;
constexpr int kLongMs = 1'800'000;  // for an image to be written
// A day: an image may be large and the line slow, and whoever waits can stop it.
constexpr int kPullMs = 86'400'000;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

// "repository:tag" apart; a digest stays with its name.
std::pair<std::string, std::string> parts_of(const std::string& image) {
  const std::size_t colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && image.find('/', colon) == std::string::npos &&
                      image.find('@') == std::string::npos;
  if (!tagged) return {image, image.find('@') == std::string::npos ? "latest" : ""};
  return {image.substr(0, colon), image.substr(colon + 1)};
}

}  // namespace

// In the order in which Docker's own command looks, then Podman's places.
Result<std::string> find_engine_socket() {
  const std::string host = variable("DOCKER_HOST");
  if (!host.empty()) {
    constexpr std::string_view kUnix = "unix://";
    if (host.starts_with(kUnix) && host.size() > kUnix.size()) return host.substr(kUnix.size());
    return Error{Code::kInvalid, "DOCKER_HOST '" + escape_control(host) + "' is not a Unix socket",
                 "containers are recorded on the engine's own machine: write it as unix:///PATH"};
  }
  std::vector<std::string> places = {"/var/run/docker.sock"};
  if (const std::string own = variable("XDG_RUNTIME_DIR"); !own.empty())
    places.insert(places.end(), {own + "/docker.sock", own + "/podman/podman.sock"});
  places.emplace_back("/run/podman/podman.sock");
  for (const std::string& place : places) {
    if (path_exists(place)) return place;
  }
  return Error{Code::kUnavailable, "no container engine runs here (docker, podman)", kStartOne};
}

Result<Engine> Engine::connect() {
  FATHOM_ASSIGN(std::string socket, find_engine_socket());
  Engine engine(std::move(socket));
  FATHOM_TRY(engine.negotiate());
  return engine;
}

// The path of every call names a version. An engine refuses versions that are older or newer than
// those that it knows, so one that both know is chosen; DOCKER_API_VERSION overrides it, as for
// Docker's command.
Status Engine::negotiate() {
  const Result<HttpAnswer> answer = exchange({.target = "/version"}, kUsualMs);
  if (!answer && !answer.error().hint.empty()) return answer.error();  // it says what to do
  if (!answer)
    return Error{Code::kUnavailable,
                 "no container engine (docker, podman) answers at " + escape_control(socket_),
                 kStartOne};
  const json said = parse_answer(answer->body);
  const std::string wanted = variable("DOCKER_API_VERSION");
  if (!wanted.empty()) {
    FATHOM_ASSIGN(version_, agree_on_version("", wanted));
    return {};
  }
  FATHOM_ASSIGN(version_,
                agree_on_version(text_at(said, "MinAPIVersion"), text_at(said, "ApiVersion")));
  return {};
}

std::string Engine::target(const std::string& rest) const { return "/v" + version_ + rest; }

// Each call has a connection of its own. An answer that is too long is cut off by refusing bytes,
// since its length may be a lie.
Result<HttpAnswer> Engine::exchange(const HttpRequest& request, int limit_ms) const {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  HttpAnswer answer;
  bool is_large = false;
  FATHOM_ASSIGN(EngineStream stream,
                EngineStream::open(socket_, request, [&](std::string_view bytes) {
                  is_large = bytes.size() > kMostBytes - answer.body.size();
                  if (!is_large) answer.body += bytes;
                  return !is_large;
                }));
  const Status ended = stream.wait_for_end(limit_ms);
  if (is_large) return Error{Code::kCorrupt, "the engine's answer is too large", ""};
  if (!ended) return ended.error();
  answer.status = stream.status();
  return answer;
}

Result<HttpAnswer> Engine::ask(HttpRequest request, int limit_ms) const {
  request.target = target(request.target);
  if (!request.body.empty() && request.headers.empty())
    request.headers.push_back({"Content-Type", "application/json"});
  Result<HttpAnswer> answer = exchange(request, limit_ms);
  if (!answer)
    return Error{Code::kUnavailable,
                 "the container engine at " + escape_control(socket_) + " stopped responding", ""};
  if (answer->status >= 400)
    return Error{Code::kDenied, "the engine refused: " + refusal_in(answer->body), ""};
  return answer;
}

Result<std::optional<ImageFacts>> Engine::image(const std::string& name) {
  // A name has strokes in it, which the engine wants as they are.
  const Result<HttpAnswer> answer =
      exchange({.target = target("/images/" + name + "/json")}, kUsualMs);
  if (!answer)
    return Error{Code::kUnavailable,
                 "the container engine at " + escape_control(socket_) + " stopped responding", ""};
  constexpr int kNoSuchImage = 404;
  if (answer->status == kNoSuchImage) return std::optional<ImageFacts>();
  if (answer->status >= 400)
    return Error{Code::kDenied, "the engine refused: " + refusal_in(answer->body), ""};
  return std::optional(image_facts(parse_answer(answer->body)));
}

// It may take as long as it takes: whoever waits is asked several times a second.
Status Engine::pull(const std::string& name, const std::function<bool()>& go_on) {
  const auto [repository, tag] = parts_of(name);
  std::string path = "/images/create?fromImage=" + encode_segment(repository);
  if (!tag.empty()) path += "&tag=" + encode_segment(tag);
  PullProgress progress;
  bool stopped = false;
  FATHOM_ASSIGN(EngineStream stream,
                EngineStream::open(socket_, {.method = "POST", .target = target(path)},
                                   [&](std::string_view bytes) {
                                     progress.feed(bytes);
                                     return true;
                                   }));
  Status ended = stream.wait_for_end(kPullMs, [&] {
    stopped = !go_on();
    return !stopped;
  });
  if (stopped) return Error{Code::kUnavailable, "fetching " + name + " was stopped", ""};
  if (!ended) return ended;
  if (stream.status() >= 400) progress.refused();
  if (progress.error().empty()) return {};
  return Error{Code::kDenied,
               "there is no image " + name + " here, and it cannot be fetched: " + progress.error(),
               ""};
}

Result<std::string> Engine::create(const std::string& name, const std::string& body) {
  FATHOM_ASSIGN(const HttpAnswer answer,
                ask({.method = "POST",
                     .target = "/containers/create?name=" + encode_segment(name),
                     .body = body}));
  std::string id = text_at(parse_answer(answer.body), "Id");
  if (!is_id(id)) return Error{Code::kCorrupt, "the engine made a container without an ID", ""};
  return id;
}

Status Engine::start(const std::string& id) {
  FATHOM_TRY(ask({.method = "POST", .target = "/containers/" + id + "/start"}));
  return {};
}

// Of a stream the head decides what its bytes are: output of the application, or words of a
// refusal. Bytes may come together with the head, so they are kept until that is known.
Result<Engine::Opened> Engine::open_stream(const HttpRequest& request,
                                           const EngineStream::Takes& take) const {
  constexpr std::size_t kMostRefusalBytes = 1 << 20;
  const auto early = std::make_shared<std::optional<std::string>>("");  // until the head is there
  const auto sort = [early, take](std::string_view bytes) {
    if (!*early) return take(bytes);
    (*early)->append(bytes);
    return (*early)->size() < kMostRefusalBytes;
  };
  FATHOM_ASSIGN(EngineStream stream, EngineStream::open(socket_, request, sort));
  FATHOM_TRY(stream.wait_for_head(kHeadMs));
  if (stream.status() >= 400) {
    FATHOM_TRY(stream.wait_for_end(kHeadMs));
    return Opened{std::move(stream), "the engine refused: " + refusal_in(**early)};
  }
  const std::string first = std::move(**early);
  early->reset();
  if (!first.empty()) take(first);
  return Opened{std::move(stream), ""};
}

// Podman makes the container ready now, not when it was created: its no may tell what is wrong.
Result<EngineStream> Engine::attach(const std::string& id, const EngineStream::Takes& take) {
  FATHOM_ASSIGN(
      Opened opened,
      open_stream({.method = "POST",
                   .target = target("/containers/" + id + "/attach?stream=1&stdout=1&stderr=1")},
                  take));
  if (!opened.refusal.empty()) return Error{Code::kDenied, opened.refusal, ""};
  return std::move(opened.stream);
}

Status Engine::get_files(const std::string& id, const std::string& path,
                         const EngineStream::Takes& take) {
  constexpr int kNoSuchFile = 404;
  FATHOM_ASSIGN(
      Opened opened,
      open_stream({.target = target("/containers/" + id + "/archive?path=" + encode_segment(path))},
                  take));
  if (opened.refusal.empty()) return opened.stream.wait_for_end(kLongMs);
  const bool is_missing = opened.stream.status() == kNoSuchFile;
  return Error{is_missing ? Code::kNotFound : Code::kDenied, opened.refusal, ""};
}

// The engine sends the head at once, and the rest when the container has ended.
Result<EngineStream> Engine::wait(const std::string& id, const EngineStream::Takes& take) {
  FATHOM_ASSIGN(
      EngineStream stream,
      EngineStream::open(
          socket_,
          {.method = "POST", .target = target("/containers/" + id + "/wait?condition=next-exit")},
          take));
  FATHOM_TRY(stream.wait_for_head(kHeadMs));
  if (stream.status() >= 400)
    return Error{Code::kDenied, "the engine refused to wait for the end of the container", ""};
  return stream;
}

Status Engine::kill(const std::string& id, int signal) {
  FATHOM_TRY(
      ask({.method = "POST", .target = fmt::format("/containers/{}/kill?signal={}", id, signal)},
          kHeadMs));
  return {};
}

Status Engine::resize(const std::string& id, int rows, int columns) {
  FATHOM_TRY(ask({.method = "POST",
                  .target = fmt::format("/containers/{}/resize?h={}&w={}", id, rows, columns)},
                 kHeadMs));
  return {};
}

Result<ContainerState> Engine::inspect(const std::string& id) {
  FATHOM_ASSIGN(const HttpAnswer answer, ask({.target = "/containers/" + id + "/json"}));
  return container_state(parse_answer(answer.body));
}

// By the engine's events: the state's OOMKilled is about the first process alone, and a child may
// have been the one. Events are asked for by whole seconds, which are all that old engines take.
Result<bool> Engine::ran_out_of_memory(const std::string& id, std::int64_t since_realtime_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const json filters = {{"type", {"container"}}, {"event", {"oom"}}, {"container", {id}}};
  const std::int64_t from = since_realtime_ns / kSecond;
  const std::string path = fmt::format("/events?since={}&until={}.999999999&filters={}", from,
                                       std::time(nullptr), encode_segment(filters.dump()));
  FATHOM_ASSIGN(const HttpAnswer answer, ask({.target = path}));
  return answer.body.find(id) != std::string::npos;
}

// Gone already, or going, is as good.
Status Engine::remove(const std::string& id) {
  const Result<HttpAnswer> answer = exchange(
      {.method = "DELETE", .target = target("/containers/" + id + "?force=1&v=1")}, kUsualMs);
  if (!answer) return answer.error();
  constexpr int kNoSuchContainer = 404;
  constexpr int kIsGoing = 409;
  if (answer->status < 400 || answer->status == kNoSuchContainer || answer->status == kIsGoing)
    return {};
  return Error{Code::kDenied,
               "the engine refused to remove a container: " + refusal_in(answer->body), ""};
}

Result<std::vector<ListedContainer>> Engine::list(const std::string& label) {
  const json filters = {{"label", {label}}};
  FATHOM_ASSIGN(const HttpAnswer answer, ask({.target = "/containers/json?all=1&filters=" +
                                                        encode_segment(filters.dump())}));
  return listed_containers(parse_answer(answer.body), label);
}

Status Engine::put_files(const std::string& id, const std::string& path, std::string tar) {
  FATHOM_TRY(ask({.method = "PUT",
                  .target = "/containers/" + id + "/archive?path=" + encode_segment(path),
                  .headers = {{"Content-Type", "application/x-tar"}},
                  .body = std::move(tar)},
                 kLongMs));
  return {};
}

Result<std::string> Engine::commit(const std::string& id, const std::string& name,
                                   const std::string& body) {
  const auto [repository, tag] = parts_of(name);
  FATHOM_ASSIGN(const HttpAnswer answer,
                ask({.method = "POST",
                     .target = "/commit?container=" + id + "&repo=" + encode_segment(repository) +
                               "&tag=" + encode_segment(tag),
                     .body = body},
                    kLongMs));
  return text_at(parse_answer(answer.body), "Id");
}

// As `docker run` answers: 125 the engine, 126 cannot be run, 127 not found. The API has no code
// for it, so the words decide.
int refusal_status(const Error& error) {
  constexpr int kRefused = 125;
  constexpr int kCannotRun = 126;
  constexpr int kNotFound = 127;
  const auto says = [&](std::string_view words) {
    return error.message.find(words) != std::string::npos;
  };
  if (error.code != Code::kDenied) return exit_status(error.code);
  if (says("executable file not found") || says("no such file or directory")) return kNotFound;
  if (says("permission denied") || says("is a directory")) return kCannotRun;
  return kRefused;
}

}  // namespace fathom::containers
