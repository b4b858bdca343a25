// SPDX-License-Identifier: MIT
#include "containers/container_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "containers/owner.h"

namespace fathom::containers {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

const ImageFacts kImage{.id = "sha256:1",
                        .entrypoint = {"enter"},
                        .command = {"one", "two"},
                        .environment = {"A=1", "PATH=/bin"}};

TEST(ContainerPlan, TheCommandAsDockerRunChoosesIt) {
  Instructions wanted;
  EXPECT_THAT(command_of(wanted, kImage), ElementsAre("enter", "one", "two"));
  wanted.arguments = {"x"};
  EXPECT_THAT(command_of(wanted, kImage), ElementsAre("enter", "x"));
  wanted.entrypoint = {"mine", "y"};
  EXPECT_THAT(command_of(wanted, kImage), ElementsAre("mine", "y", "x"));
  wanted.arguments.clear();
  EXPECT_THAT(command_of(wanted, kImage), ElementsAre("mine", "y"));
}

TEST(ContainerPlan, VariablesOfTheInstructionsWin) {
  Instructions wanted;
  wanted.environment = {{"A", "2"}, {"B", "x=y"}};
  EXPECT_THAT(environment_of(wanted, kImage), ElementsAre("A=2", "PATH=/bin", "B=x=y"));
}

TEST(ContainerPlan, NothingIsGivenThatWasNotAskedFor) {
  const Instructions wanted{.image = "a"};
  const json body =
      json::parse(create_body({.wanted = wanted, .image = kImage, .results = "", .gate = ""}));
  const json& host = body["HostConfig"];
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["PidsLimit"], 4096);
  EXPECT_EQ(host["Mounts"], json::array());
  for (const char* key : {"Privileged", "CapAdd", "Devices", "PidMode", "IpcMode", "Binds",
                          "SecurityOpt", "DeviceRequests", "Memory", "NanoCpus", "Runtime"})
    EXPECT_FALSE(host.contains(key)) << key;
  for (const char* key : {"Entrypoint", "Cmd", "User", "WorkingDir"})
    EXPECT_FALSE(body.contains(key)) << key;
  EXPECT_EQ(body["Image"], "sha256:1");
  EXPECT_EQ(body["Labels"][kOwnerLabel], own_mark());
}

TEST(ContainerPlan, ARecordedOneBeginsAtTheGate) {
  Instructions wanted{.image = "a"};
  wanted.limits = {.cpus = 0.5, .memory = 100, .pids = 7};
  wanted.data = {.source = "/d", .target = "/data"};
  wanted.results = "/results";
  wanted.gpus = kAllGpus;
  wanted.runtime = "crun";
  const json body = json::parse(
      create_body({.wanted = wanted, .image = kImage, .results = "/out", .gate = "/private"}));
  EXPECT_EQ(body["Entrypoint"], json({"/.fathom/gate", "/.fathom/door"}));
  EXPECT_EQ(body["Cmd"], json({"enter", "one", "two"}));
  const json& host = body["HostConfig"];
  EXPECT_EQ(host["NanoCpus"], 500'000'000);
  EXPECT_EQ(host["Memory"], 100);
  EXPECT_EQ(host["Runtime"], "crun");
  EXPECT_EQ(host["DeviceRequests"][0]["Count"], -1);
  ASSERT_EQ(host["Mounts"].size(), 3U);
  EXPECT_EQ(host["Mounts"][0]["ReadOnly"], true);   // data
  EXPECT_EQ(host["Mounts"][1]["ReadOnly"], false);  // results
  EXPECT_EQ(host["Mounts"][2]["ReadOnly"], true);   // ours
  EXPECT_EQ(host["Mounts"][2]["Target"], "/.fathom");
}

TEST(Owner, OneThatLivesIsSpared) {
  EXPECT_FALSE(has_owner_ended(own_mark()));
  std::string dead = own_mark();
  dead.insert(dead.find('.') + 1, "1");  // the same number, begun at another time
  EXPECT_TRUE(has_owner_ended(dead));
  for (const char* mark : {"", "x", "1.2.3", "a.b.c.d"})
    EXPECT_FALSE(has_owner_ended(mark)) << mark;
}

}  // namespace
}  // namespace fathom::containers
