// SPDX-License-Identifier: MIT
#include "containers/engine_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fathom::containers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EngineAnswers, AnImageSaysWhatItIs) {
  const ImageFacts facts = image_facts(parse_answer(
      R"({"Id":"sha256:ab","Config":{"Entrypoint":["run"],"Cmd":null,"Env":["A=b",3],
          "WorkingDir":"/w","User":"1000","Volumes":{"/data":{}},"ExposedPorts":{"80/tcp":{}}}})"));
  EXPECT_EQ(facts.id, "sha256:ab");
  EXPECT_THAT(facts.entrypoint, ElementsAre("run"));
  EXPECT_TRUE(facts.command.empty());
  EXPECT_THAT(facts.environment, ElementsAre("A=b"));
  EXPECT_THAT(facts.volumes, ElementsAre("/data"));
  EXPECT_THAT(facts.ports, ElementsAre("80/tcp"));
}

TEST(EngineAnswers, AContainerSaysHowItEnded) {
  const ContainerState state = container_state(parse_answer(
      R"({"State":{"Running":false,"Pid":0,"ExitCode":137,"OOMKilled":true,
          "StartedAt":"1970-01-01T00:00:01.5Z","FinishedAt":"0001-01-01T00:00:00Z"},
          "HostConfig":{"Runtime":"runc"}})"));
  EXPECT_EQ(state.runtime, "runc");
  EXPECT_EQ(state.exit, 137);
  EXPECT_TRUE(state.oom);
  EXPECT_EQ(state.started_ns, 1'500'000'000);
  EXPECT_EQ(state.finished_ns, 0);
}

TEST(EngineAnswers, WhatHasAnotherFormIsNotThere) {
  for (const char* text : {"", "[]", "null", "{", "{\"State\":3,\"Config\":[]}", "\"x\""}) {
    EXPECT_EQ(container_state(parse_answer(text)).exit, 0);
    EXPECT_TRUE(image_facts(parse_answer(text)).id.empty());
    EXPECT_TRUE(listed_containers(parse_answer(text), "l").empty());
  }
  EXPECT_EQ(parse_time("yesterday"), 0);
  EXPECT_EQ(parse_time("2026-11-18T03:06:26"), 0);
}

TEST(EngineAnswers, ARefusalIsOneLine) {
  EXPECT_EQ(refusal_in(R"({"message":"no\nsuch"})"), "no\\nsuch");
  EXPECT_EQ(refusal_in(""), "it gives no reason");
  EXPECT_LT(refusal_in(std::string(100'000, 'x')).size(), 1000U);
}

TEST(EngineAnswers, FetchingTellsWhyNot) {
  PullProgress progress;
  progress.feed("{\"status\":\"Pulling\"}\r\n{\"err");
  EXPECT_EQ(progress.error(), "");
  progress.feed("or\":\"denied\"}\n");
  EXPECT_EQ(progress.error(), "denied");
}

TEST(EngineAnswers, OnlyWholeIdsOfContainers) {
  const std::string id(64, 'a');
  EXPECT_TRUE(is_id(id));
  for (const std::string& wrong :
       {std::string(), id + "a", std::string(64, 'g'), id.substr(1) + "/"})
    EXPECT_FALSE(is_id(wrong)) << wrong;
  const auto list = listed_containers(
      parse_answer("[{\"Id\":\"" + id + "\",\"Labels\":{\"l\":\"me\"}},{\"Id\":\"../x\"}]"), "l");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].owner, "me");
}

TEST(EngineVersion, TheNewestThatBothKnow) {
  EXPECT_EQ(*agree_on_version("1.12", "1.41"), "1.41");
  EXPECT_EQ(*agree_on_version("1.24", "1.40"), "1.40");
  EXPECT_EQ(*agree_on_version("1.44", "1.52"), "1.47");
  EXPECT_EQ(*agree_on_version("", "1.43"), "1.43");
  EXPECT_THAT(agree_on_version("1.12", "1.38").error().message, HasSubstr("1.40"));
  EXPECT_EQ(agree_on_version("1.60", "1.70").error().code, Code::kUnsupported);
  EXPECT_EQ(agree_on_version("x", "y").error().code, Code::kUnsupported);
}

TEST(EngineRefusal, TheStatusOfDockerRun) {
  const auto status = [](const char* words) { return refusal_status({Code::kDenied, words, ""}); };
  EXPECT_EQ(status("exec: \"x\": executable file not found in $PATH"), 127);
  EXPECT_EQ(status("exec: \"/x\": permission denied: unknown"), 126);
  EXPECT_EQ(status("no such image"), 125);
  EXPECT_EQ(refusal_status({Code::kUnavailable, "gone", ""}), 3);
}

}  // namespace
}  // namespace fathom::containers
