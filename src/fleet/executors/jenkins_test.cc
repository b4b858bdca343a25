// SPDX-License-Identifier: MIT
// What a server that is not a friend may answer. tests/e2e/test_suite.py has the friendly one.
#include "fleet/executors/jenkins.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/files.h"

namespace fathom::fleet {
namespace {

using Answer = std::function<WebReply(const WebRequest&)>;

class Stage : public Web {
 public:
  explicit Stage(Answer answer) : answer_(std::move(answer)) {}
  Result<WebReply> ask(const WebRequest& request) override { return answer_(request); }

 private:
  Answer answer_;
};

JenkinsExecutor executor_of(Answer answer, const std::string& url = "http://h/jenkins/") {
  JenkinsOptions options;
  options.url = url;
  options.user = "u";
  options.most_silence_ns = 0;
  return {std::make_unique<Stage>(std::move(answer)), "t", options};
}

Work work_at(const std::string& name) {
  Work work;
  work.id = "r.0.1";
  work.place = ::testing::TempDir() + "/jenkins-" + name + "/1";
  std::filesystem::remove_all(::testing::TempDir() + "/jenkins-" + name);
  work.command = {"x"};
  return work;
}

bool has(const WebRequest& request, const std::string& part) {
  return request.path.find(part) != std::string::npos;
}

// A server with one build that has ended, and these artifacts.
Answer ended_with(const std::string& artifacts, const std::string& status) {
  return [=](const WebRequest& request) -> WebReply {
    if (has(request, "buildWithParameters"))
      return {201, {{"location", "http://other/queue/item/7/"}}, ""};
    if (has(request, "/queue/item/7/")) return {200, {}, R"({"executable": {"number": 3}})"};
    if (has(request, "/3/api/json"))
      return {200,
              {},
              R"({"building": false, "result": "SUCCESS", "duration": 2500, "artifacts": )" +
                  artifacts + "}"};
    if (has(request, "fathom-exit.json"))
      return status.empty() ? WebReply{404, {}, ""} : WebReply{200, {}, status};
    if (has(request, "/artifact/")) return {200, {}, "content"};
    return {404, {}, ""};
  };
}

TEST(Jenkins, AnEndedBuildIsAnOutcome) {
  const Work work = work_at("ended");
  JenkinsExecutor executor = executor_of(
      ended_with(R"([{"relativePath": "work/a/b c"}, {"relativePath": "work/fathom-exit.json"}])",
                 R"({"exit": 4})"));
  ASSERT_TRUE(executor.submit({work}, {}));
  const auto states = executor.states();
  ASSERT_TRUE(states);
  ASSERT_EQ(states->at(work.id).phase, WorkPhase::kEnded);
  EXPECT_EQ(states->at(work.id).outcome->exit, 4);
  EXPECT_EQ(states->at(work.id).outcome->wall, 2.5);
  ASSERT_TRUE(executor.fetch(work.id));
  EXPECT_EQ(*read_file(work.place + "/files/a/b c"), "content");
  EXPECT_FALSE(path_exists(work.place + "/files/fathom-exit.json"));
}

TEST(Jenkins, ArtifactsStayBelowTheirPlace) {
  const Work work = work_at("paths");
  JenkinsExecutor executor = executor_of(ended_with(
      R"([{"relativePath": "../evil"}, {"relativePath": "/tmp/jenkins-evil"}, {"relativePath": ""},
          {"relativePath": "work/../../../evil"}, {"relativePath": "work//evil"}, 7, {}])",
      R"({"exit": 0})"));
  ASSERT_TRUE(executor.submit({work}, {}));
  ASSERT_TRUE(executor.states());
  ASSERT_TRUE(executor.fetch(work.id));
  EXPECT_FALSE(path_exists(work.place + "/files"));
  EXPECT_FALSE(path_exists("/tmp/jenkins-evil"));
}

TEST(Jenkins, ABuildWithoutAResultIsLost) {
  const Work work = work_at("lost");
  JenkinsExecutor executor = executor_of(ended_with("[]", ""));
  ASSERT_TRUE(executor.submit({work}, {}));
  EXPECT_EQ(executor.states()->at(work.id).phase, WorkPhase::kLost);
}

TEST(Jenkins, NonsenseIsNoCrash) {
  for (const std::string& body :
       {std::string(), std::string("["), std::string("[]"), std::string("{"),
        std::string(R"({"executable": 5, "builds": 7, "items": [1]})"),
        std::string(R"({"building": "no", "artifacts": {"a": 1}})")}) {
    const Work work = work_at("nonsense");
    JenkinsExecutor executor = executor_of([&](const WebRequest& request) -> WebReply {
      if (request.method == "POST") return {201, {{"location", "nowhere"}}, body};
      return {200, {{"x-text-size", "many"}}, body};
    });
    ASSERT_TRUE(executor.submit({work}, {}));
    const auto states = executor.states();
    if (states) {
      EXPECT_NE(states->at(work.id).phase, WorkPhase::kEnded);
    }
    (void)executor.cancel(work.id);
  }
}

TEST(Jenkins, WhoIsRefusedHearsWhy) {
  const std::pair<int, Code> cases[] = {
      {401, Code::kDenied}, {403, Code::kDenied}, {500, Code::kUnavailable}, {400, Code::kInvalid}};
  for (const auto& [status, code] : cases) {
    JenkinsExecutor executor = executor_of([status = status](const WebRequest&) {
      return WebReply{status, {}, ""};
    });
    const Status checked = executor.check();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, code) << status;
  }
}

// A job that others changed is made anew; one that cannot be read is left alone.
TEST(Jenkins, TheJobIsWrittenWhereItIsAnotherOne) {
  const auto wrote = [](int status) {
    std::string written;
    JenkinsExecutor executor = executor_of([&](const WebRequest& request) -> WebReply {
      if (request.method == "POST") {
        written = request.path;
        return {200, {}, ""};
      }
      return has(request, "crumb") ? WebReply{404, {}, ""} : WebReply{status, {}, "<project/>"};
    });
    (void)executor.check();
    return written;
  };
  EXPECT_NE(wrote(200).find("/config.xml"), std::string::npos) << wrote(200);
  EXPECT_NE(wrote(404).find("/createItem?name="), std::string::npos) << wrote(404);
  EXPECT_EQ(wrote(403), "");
  EXPECT_EQ(wrote(500), "");
}

TEST(Jenkins, PathsAndSecrets) {
  std::vector<WebRequest> asked;
  JenkinsExecutor executor = executor_of([&](const WebRequest& request) {
    asked.push_back(request);
    return WebReply{request.method == "GET" ? 404 : 200, {}, ""};
  });
  ASSERT_TRUE(executor.check());
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].path, "/jenkins/job/fathom-suite/config.xml");
  EXPECT_EQ(asked[1].path, "/jenkins/createItem?name=fathom-suite");
  EXPECT_EQ(asked[0].headers.at("Authorization"), "Basic dTp0");
  EXPECT_EQ(asked[1].headers.at("Content-Type"), "application/xml");
}

TEST(Jenkins, TheJobIsWellFormed) {
  JenkinsOptions options;
  options.label = "a<b>&\"c\"";
  const std::string xml = jenkins_job_xml(options);
  EXPECT_NE(xml.find("<assignedNode>a&lt;b&gt;&amp;&quot;c&quot;</assignedNode>"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom::fleet
