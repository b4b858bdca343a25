// SPDX-License-Identifier: MIT
// Docker's engine, or Podman's, by its API over a Unix socket: version 1.40 or later, the newest
// that both sides know.
//
// Errors: kUnavailable: nobody answers; kDenied: the engine says no, in its own words;
// kUnsupported: it is too old or too new.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "containers/engine_stream.h"
#include "fleet/http/http_client.h"

namespace fathom::containers {

// Where the engine listens: DOCKER_HOST, Docker's own place, Podman's. A path.
Result<std::string> find_engine_socket();

// The version to speak with an engine that speaks `least` to `greatest`.
Result<std::string> agree_on_version(std::string_view least, std::string_view greatest);

struct ImageFacts {
  std::string id = {};
  std::vector<std::string> entrypoint = {}, command = {};
  std::vector<std::string> environment = {};  // NAME=value
  std::string workdir = {}, user = {};
  std::vector<std::string> volumes = {}, ports = {};
};

struct ContainerState {
  bool running = false;
  std::int64_t pid = 0;  // of its first process, as this machine counts; 0: it does not run
  int exit = 0;
  bool oom = false;
  std::string error;
  std::int64_t started_ns = 0;  // since 1970
  std::int64_t finished_ns = 0;
  std::string runtime = {};  // its name, where the engine takes one
};

struct ListedContainer {
  std::string id;
  std::string owner;  // the value of the label that was asked for
};

// Any thread: each request has a connection of its own, and nothing changes after connect().
class Engine {
 public:
  static Result<Engine> connect();

  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] const std::string& version() const { return version_; }

  Result<std::optional<ImageFacts>> image(const std::string& name);
  // Fetches it. `go_on` is asked now and then.
  Status pull(const std::string& name, const std::function<bool()>& go_on);
  Result<std::string> create(const std::string& name, const std::string& body);  // its id
  Status start(const std::string& id);
  // Before it is started: nothing that it writes is missed.
  Result<EngineStream> attach(const std::string& id, const EngineStream::Takes& take);
  Result<EngineStream> wait(const std::string& id, const EngineStream::Takes& take);
  Status kill(const std::string& id, int signal);
  Status resize(const std::string& id, int rows, int columns);
  Result<ContainerState> inspect(const std::string& id);
  // Whether the kernel ended a process of it for want of memory, by the engine's events since then.
  Result<bool> ran_out_of_memory(const std::string& id, std::int64_t since_realtime_ns);
  // With its volumes that have no name. One that is gone is success.
  Status remove(const std::string& id);
  Result<std::vector<ListedContainer>> list(const std::string& label);
  // A file or folder of a container, running or not, as a tar. kNotFound: there is none.
  Status get_files(const std::string& id, const std::string& path, const EngineStream::Takes& take);
  // Puts the files of a tar into a container that need not run.
  Status put_files(const std::string& id, const std::string& path, std::string tar);
  // Its files as an image of this name ("REPOSITORY[:TAG]"), with this configuration (JSON).
  Result<std::string> commit(const std::string& id, const std::string& name,
                             const std::string& body);

 private:
  explicit Engine(std::string socket) : socket_(std::move(socket)) {}
  // Any status is an answer.
  Result<fleet::HttpAnswer> exchange(const fleet::HttpRequest& request, int limit_ms) const;
  // From 400 on it is a no.
  Result<fleet::HttpAnswer> ask(fleet::HttpRequest request, int limit_ms = kUsualMs) const;
  // An answer that comes as it is made, from its head on; a no is told by its words.
  struct Opened {
    EngineStream stream;
    std::string refusal;
  };
  [[nodiscard]] Result<Opened> open_stream(const fleet::HttpRequest& request,
                                           const EngineStream::Takes& take) const;
  [[nodiscard]] std::string target(const std::string& rest) const;
  Status negotiate();

  static constexpr int kUsualMs = 120'000;  // a slow disk under a container that starts

  std::string socket_;
  std::string version_;
};

// What `docker run` ends with where the engine refuses to start a program: 127, 126, else 125.
[[nodiscard]] int refusal_status(const Error& error);

}  // namespace fathom::containers
