// SPDX-License-Identifier: MIT
// A whole API over a store in memory, with a token of each role, for tests without sockets.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "fleet/testing/memory_store.h"
#include "serve/http/tokens.h"
#include "serve/page/export_route.h"
#include "serve/recordings/named_recordings.h"
#include "serve/routes/routes.h"

namespace fathom::serve {

class Site {
 public:
  explicit Site(const Limits& limits = {}) : Site(limits, fresh_directory()) {}
  ~Site() {
    (void)remove_tree(directory_);
    (void)remove_tree(directory_ + ".recordings");
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // As a server does it: the head first, then the body.
  Response ask(const std::string& method, const std::string& target, const std::string& body = "",
               std::vector<Header> headers = {}) {
    return ask_as("own", method, target, body, std::move(headers));
  }
  Response ask_as(const std::string& token, const std::string& method, const std::string& target,
                  const std::string& body = "", std::vector<Header> headers = {}) {
    Head head{method, target, std::move(headers)};
    if (!token.empty()) head.headers.push_back({"Authorization", "Bearer " + token});
    if (std::optional<Response> refused = router_.refuse(head)) return *refused;
    return router_.answer(head, body);
  }

  std::string token(Role role) {
    Result<std::string> made = add_token(directory_, "t" + std::to_string(++tokens_made_), role);
    EXPECT_TRUE(made);
    return made ? *made : "";
  }

  Router& router() { return router_; }
  fleet::MemoryStore& store() { return store_; }
  Metrics& metrics() { return metrics_; }
  const std::string& directory() const { return directory_; }
  std::int64_t now = 1000;  // the second that the server believes it is

 private:
  Site(const Limits& limits, const std::string& directory)
      : directory_(directory), tokens_(directory, "own"), router_(tokens_, metrics_, limits) {
    const Subjects subjects{&store_, &arrivals_};
    add_job_routes(router_, subjects);
    add_record_routes(router_, subjects);
    add_agent_routes(router_, subjects);
    add_self_routes(router_, subjects);
    Result<std::unique_ptr<fleet::Recordings>> recordings =
        fleet::Recordings::open(directory + ".recordings");
    EXPECT_TRUE(recordings) << (recordings ? "" : recordings.error().message);
    recordings_ = std::move(*recordings);
    add_recording_routes(router_, *recordings_);
    add_page_data_routes(router_, {&open_recordings_, &cards_, &looks_, "server"});
    add_export_route(router_, open_recordings_);
    add_page_routes(router_, files_);
  }

  static std::string fresh_directory() {
    static int number = 0;
    const std::string path = ::testing::TempDir() + "/site." + std::to_string(::getpid()) + "." +
                             std::to_string(++number);
    (void)remove_tree(path);
    return path;
  }

  std::string directory_;
  int tokens_made_ = 0;
  TokenBook tokens_;
  Metrics metrics_;
  Router router_;
  std::unique_ptr<fleet::Recordings> recordings_;
  NamedRecordings places_{{}};
  OpenRecordings open_recordings_{places_, {}, {}};
  RecordingCards cards_{{}};
  LiveLooks looks_{{}};
  WebFiles files_;
  fleet::MemoryStore store_;
  Arrivals arrivals_{[this] { return now; }};
};

}  // namespace fathom::serve
