// SPDX-License-Identifier: MIT
// What `fathom view` serves, over sample recordings and without sockets.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/testing/sample_recording.h"
#include "base/files.h"
#include "serve/page/export_route.h"
#include "serve/recordings/named_recordings.h"
#include "serve/routes/routes.h"

namespace fathom::serve {

class PageSite {
 public:
  // A recording "run" of 100 reads, and a directory "many" of two recordings.
  explicit PageSite(const QuestionLimits& limits = {})
      : recordings_(places_, {}, limits), router_(tokens_, metrics_, {}) {
    Admission admission = admission_for("127.0.0.1", /*is_unspecified=*/false);
    admission.cookie = "fathom-1";
    router_.admit(std::move(admission));
    add_page_data_routes(router_, {&recordings_, &cards_, &looks_, "view"});
    add_export_route(router_, recordings_);
    add_page_routes(router_, files_);
    add_description_route(router_);
  }
  ~PageSite() { (void)remove_tree(directory_); }
  PageSite(const PageSite&) = delete;
  PageSite& operator=(const PageSite&) = delete;

  Response ask(const std::string& method, const std::string& target, const std::string& body = "") {
    return ask_as(method, target, {{"Authorization", "Bearer own"}}, body);
  }
  // As a browser: no header but these and the Host.
  Response ask_as(const std::string& method, const std::string& target, std::vector<Header> headers,
                  const std::string& body = "") {
    Head head{method, target, std::move(headers)};
    if (head.header("host").empty()) head.headers.push_back({"Host", "127.0.0.1:1"});
    if (std::optional<Response> refused = router_.refuse(head)) return *refused;
    return router_.answer(head, body, gone);
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return join_path(directory_, name);
  }

  std::shared_ptr<std::atomic<bool>> gone;  // of all requests

 private:
  static std::string made_directory() {
    static int number = 0;
    std::string path = ::testing::TempDir() + "/page." + std::to_string(::getpid()) + "." +
                       std::to_string(++number);
    (void)remove_tree(path);
    EXPECT_TRUE(make_dirs(path + "/many"));
    EXPECT_TRUE(analysis::testing::write_sample(path + "/run"));
    EXPECT_TRUE(analysis::testing::write_sample(path + "/many/a", {.host = "a", .lost = 3}));
    EXPECT_TRUE(analysis::testing::write_sample(path + "/many/<b>", {.host = "b"}));
    return path;
  }

  std::string directory_ = made_directory();
  NamedRecordings places_{{{"run", directory_ + "/run"}, {"many", directory_ + "/many/"}}};
  TokenBook tokens_{"", "own", "key"};
  Metrics metrics_;
  WebFiles files_;
  OpenRecordings recordings_;
  RecordingCards cards_{{}};
  LiveLooks looks_{{}};
  Router router_;
};

}  // namespace fathom::serve
