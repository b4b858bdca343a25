// SPDX-License-Identifier: MIT
// For tests: a redis-server of its own on loopback, or a cluster of three, gone with the test.
#pragma once

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "fleet/redis/redis_link.h"
#include "fleet/redis/redis_target.h"

namespace fathom::fleet::testing {

inline bool has_redis_server() { return ::access("/usr/bin/redis-server", X_OK) == 0; }

inline bool is_free(std::uint16_t port) {
  const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Below those that the kernel gives to clients, so that it is found again after a restart. Nodes of
// a cluster listen to each other 10000 above.
inline std::uint16_t free_port() {
  std::random_device random;
  for (;;) {
    const auto port = static_cast<std::uint16_t>(20'000 + random() % 12'000);
    if (is_free(port) && is_free(static_cast<std::uint16_t>(port + 10'000))) return port;
  }
}

class RedisServer {
 public:
  // Acknowledges what is on disk, unless the options say otherwise.
  explicit RedisServer(std::string folder, std::vector<std::string> options = {})
      : folder_(std::move(folder)), options_(std::move(options)), port_(free_port()) {
    (void)remove_tree(folder_);
    (void)make_dirs(folder_);
    start();
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() {
    kill();
    (void)remove_tree(folder_);
  }

  void start() {
    std::vector<std::string> words = {"redis-server",
                                      "--bind",
                                      "127.0.0.1",
                                      "--port",
                                      std::to_string(port_),
                                      "--unixsocket",
                                      socket(),
                                      "--dir",
                                      folder_,
                                      "--save",
                                      "",
                                      "--daemonize",
                                      "no",
                                      "--logfile",
                                      folder_ + "/log",
                                      "--appendonly",
                                      "yes",
                                      "--appendfsync",
                                      "always"};
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::execv("/usr/bin/redis-server", arguments.data());
      ::_exit(127);
    }
    wait_until_up();
  }

  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string socket() const { return folder_ + "/socket"; }
  [[nodiscard]] std::string url() const {
    return "redis://127.0.0.1:" + std::to_string(port_) + "/0";
  }
  [[nodiscard]] RedisTarget target() const {
    RedisTarget target;
    target.address = {"127.0.0.1", port_, ""};
    return target;
  }

  // One command; an error or a null where there is no answer.
  RespValue ask(const std::vector<std::string_view>& words) const {
    const Result<std::unique_ptr<RedisLink>> link = RedisLink::connect(target());
    if (!link) return {};
    Result<RedisAnswers> answers = (*link)->ask(RedisRequest().add(words));
    return answers ? std::move(answers->front()) : RespValue{};
  }

 private:
  // Up to a minute: the machine may be busy.
  void wait_until_up() const {
    for (int tries = 0; tries < 3000; ++tries) {
      const RespValue answer = ask({"PING"});
      if (answer.text == "PONG" || answer.text.starts_with("NOAUTH")) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  std::string folder_;
  std::vector<std::string> options_;
  std::uint16_t port_;
  pid_t process_ = -1;
};

// Three nodes that share the slots.
class RedisCluster {
 public:
  explicit RedisCluster(const std::string& folder) {
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      nodes_[at] = std::make_unique<RedisServer>(
          folder + "-" + std::to_string(at),
          std::vector<std::string>{"--cluster-enabled", "yes", "--cluster-node-timeout", "5000"});
      constexpr std::array<std::array<const char*, 2>, 3> kRanges = {
          {{"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}}};
      nodes_[at]->ask({"CLUSTER", "ADDSLOTSRANGE", kRanges[at][0], kRanges[at][1]});
      nodes_[at]->ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(at + 1)});
    }
    for (std::size_t at = 1; at < nodes_.size(); ++at)
      nodes_[at]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[0]->port())});
    wait_until_up();
  }

  [[nodiscard]] RedisServer& node(std::size_t at) { return *nodes_[at]; }
  [[nodiscard]] const std::array<std::unique_ptr<RedisServer>, 3>& nodes() const { return nodes_; }

 private:
  void wait_until_up() const {
    for (int tries = 0; tries < 600; ++tries) {
      bool is_up = true;
      for (const auto& node : nodes_)
        is_up = is_up &&
                node->ask({"CLUSTER", "INFO"}).text.find("cluster_state:ok") != std::string::npos &&
                node->ask({"CLUSTER", "SLOTS"}).items.size() == nodes_.size();
      if (is_up) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  std::array<std::unique_ptr<RedisServer>, 3> nodes_;
};

}  // namespace fathom::fleet::testing
