// SPDX-License-Identifier: MIT
#include "fleet/executors/work_place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "fleet/executors/docker.h"
#include "fleet/executors/tool.h"

namespace fathom::fleet {
namespace {

using Words = std::vector<std::string>;

std::string new_place(const std::string& name) {
  const std::string place = ::testing::TempDir() + "/places-" + name + "/1";
  std::filesystem::remove_all(std::filesystem::path(place).parent_path());
  return place;
}

TEST(WorkPlace, WhatToDoIsReadBackAsItWas) {
  Work work;
  work.id = "r.1.1";
  work.place = new_place("whole");
  work.command = {"a b", "", "größe\n\"x\""};
  work.environment = {{"A", "b=c"}};
  work.directory = "/tmp";
  work.timeout_ns = 5'000'000'000;
  ASSERT_TRUE(prepare_place(work));
  const Result<Work> read = read_work(work.place);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, work.id);
  EXPECT_EQ(read->command, work.command);
  EXPECT_EQ(read->environment, work.environment);
  EXPECT_EQ(read->directory, work.directory);
  EXPECT_EQ(read->timeout_ns, work.timeout_ns);
  EXPECT_FALSE(prepare_place(work));  // a place has one work
  EXPECT_FALSE(read_outcome(work.place));
  EXPECT_EQ(read_beat(work.place), 0);
}

TEST(WorkPlace, DamageIsAnErrorAndNoResult) {
  Work work;
  work.place = new_place("damaged");
  work.command = {"x"};
  ASSERT_TRUE(prepare_place(work));
  for (const char* const text : {"", "{", "[]", R"({"command": []})", R"({"command": [1]})",
                                 R"({"command": ["x"], "environment": {"A": 1}})"}) {
    std::ofstream(work.place + "/work.json") << text;
    EXPECT_FALSE(read_work(work.place)) << text;
  }
  EXPECT_FALSE(read_work("/nowhere"));
  for (const char* const text : {"", "{", "[]", "{}", R"({"exit": "0"})"})
    EXPECT_FALSE(parse_outcome(text)) << text;
}

TEST(WorkPlace, AnOutcomeIsBelievedWithinLimits) {
  const auto outcome =
      parse_outcome(R"({"exit": 1e300, "wall": -5, "max_rss": -1, "host": 7, "timed_out": "yes"})");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit, 255);
  EXPECT_EQ(outcome->wall, 0);
  EXPECT_EQ(outcome->max_rss, 0U);
  EXPECT_EQ(outcome->host, "");
  EXPECT_FALSE(outcome->timed_out);
}

TEST(WorkPlace, AnOutcomeIsWrittenAndRead) {
  Work work;
  work.place = new_place("outcome");
  work.command = {"x"};
  ASSERT_TRUE(prepare_place(work));
  ASSERT_TRUE(write_outcome(work.place, {3, 1.5, 0.25, 0.125, 1 << 20, "n1", true}));
  const auto outcome = read_outcome(work.place);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit, 3);
  EXPECT_EQ(outcome->wall, 1.5);
  EXPECT_EQ(outcome->max_rss, 1U << 20U);
  EXPECT_EQ(outcome->host, "n1");
  EXPECT_TRUE(outcome->timed_out);
}

TEST(WorkPlace, ALinkInThePlaceIsNotFollowed) {
  Work work;
  work.place = new_place("link");
  work.command = {"x"};
  ASSERT_TRUE(prepare_place(work));
  std::ofstream(work.place + "/elsewhere") << R"({"exit": 0})";
  std::filesystem::create_symlink(work.place + "/elsewhere", work.place + "/result.json");
  EXPECT_FALSE(read_outcome(work.place));
}

TEST(Tool, StatusAndBothStreams) {
  const Result<ToolRun> run = run_tool({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->exit, 3);
  EXPECT_EQ(run->out, "out\n");
  EXPECT_EQ(run->err, "err\n");
  const Result<std::string> failed = run_tool_well({"sh", "-c", "echo why >&2; exit 3"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "sh failed: why");
  EXPECT_FALSE(run_tool({"/nowhere/program"}));
}

TEST(Tool, MuchOutputIsCutAndTimeIsLimited) {
  const Result<ToolRun> much = run_tool({"sh", "-c", "head -c 20000000 /dev/zero; exit 0"});
  ASSERT_TRUE(much);
  EXPECT_EQ(much->exit, 0);
  EXPECT_EQ(much->out.size(), kMostToolOutput);
  const Result<ToolRun> slow = run_tool({"sleep", "60"}, 100'000'000);
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, Code::kUnavailable);
}

TEST(Docker, AContainerHasWhatItWasGivenAndNoMore) {
  DockerOptions options;
  options.image = "image@sha256:1";
  options.mounts = {{"/data", "/in", false}, {"/out", "/out", true}};
  options.memory = "1g";
  options.environment = {{"A", "b"}};
  const DockerExecutor executor("fathom", 1, options);
  const Words words = executor.wrap("r.1.1", {"prog", "--flag"});
  const auto has = [&](const Words& part) {
    return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
  };
  EXPECT_TRUE(has({"docker", "run", "--rm"}));
  EXPECT_TRUE(has({"--name", "fathom-r.1.1"}));
  EXPECT_TRUE(has({"--network", "none"}));
  EXPECT_TRUE(has({"--cap-drop", "ALL"}));
  EXPECT_TRUE(has({"--mount", "type=bind,source=/data,target=/in,readonly"}));
  EXPECT_TRUE(has({"--mount", "type=bind,source=/out,target=/out"}));
  EXPECT_TRUE(has({"--env", "A=b"}));
  EXPECT_TRUE(has({"--memory", "1g", "image@sha256:1", "prog", "--flag"}));
  EXPECT_FALSE(has({"--privileged"}));
}

}  // namespace
}  // namespace fathom::fleet
