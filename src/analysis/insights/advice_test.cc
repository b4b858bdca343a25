// SPDX-License-Identifier: MIT
// What all rules together say of a recording: in which order, how grave, and where nothing is
// wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/insights/insights.h"
#include "analysis/insights/scene_test.h"
#include "trace/testing/spool_builder.h"

namespace fathom::analysis {
namespace {

using testing::at;
using testing::by;
using testing::Calls;
using testing::kMiB;
using testing::kMicrosecond;
using testing::kMillisecond;
using testing::kSecond;
using testing::named;
using testing::reads;
using testing::Scene;
using testing::writes;

Scene slow_ones(std::int64_t slow) {
  return Scene()
      .calls(reads(4000, 4096, 5 * kMicrosecond))
      .calls(at(reads(5, 4096, slow), "/data/other"));
}

// What the rules find in a scene, all of them together.
std::vector<Insight> advice_on(const Scene& scene) {
  const trace::testing::TempDir directory;
  Result<Store> store = scene.open(directory.path() + "/scene.fathom");
  if (!store) return {};
  Result<std::vector<Insight>> found = find_insights(*store, *own_rules());
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : std::vector<Insight>();
}

const Insight* find_rule(const std::vector<Insight>& found, std::string_view rule) {
  const auto one = std::ranges::find(found, rule, &Insight::rule);
  return one == found.end() ? nullptr : &*one;
}

TEST(Advice, WhatSavesMostComesFirst) {
  const std::vector<Insight> found = advice_on(Scene()
                                                   .calls(reads(2000, 128, 20 * kMicrosecond))
                                                   .calls(writes(2000, 128, 150 * kMicrosecond)));
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[0].rule, "small-writes");
  std::int64_t before = found[0].gain_ns.value_or(0);
  for (const Insight& one : found) {
    EXPECT_LE(one.gain_ns.value_or(0), before) << one.rule;
    before = one.gain_ns.value_or(0);
  }
}

TEST(Advice, SeverityFollowsTheGain) {
  const auto severity = [](std::int64_t each) {
    const std::vector<Insight> found = advice_on(Scene().calls(reads(2000, 128, each)));
    const Insight* small = find_rule(found, "small-reads");
    return small == nullptr ? "none" : std::string(severity_name(small->severity));
  };
  EXPECT_EQ(severity(60 * kMicrosecond), "high");
  EXPECT_EQ(severity(20 * kMicrosecond), "medium");
  EXPECT_EQ(severity(8 * kMicrosecond), "low");
  EXPECT_EQ(severity(kMicrosecond), "none") << "2 ms of a second";
}

// Eight processes read at once: what all of them took is not what the run would save.
TEST(Advice, AGainIsTimeOfTheRun) {
  Scene scene;
  for (std::int32_t pid = 10; pid < 18; ++pid)
    scene.calls(
        at(by(reads(2000, 128, 400 * kMicrosecond), pid), "/data/in" + std::to_string(pid)));
  const std::vector<Insight> found = advice_on(scene);
  const Insight* small = find_rule(found, "small-reads");
  ASSERT_NE(small, nullptr);
  EXPECT_NEAR(static_cast<double>(small->gain_ns.value_or(0)), 0.8e9, 0.05e9);
  for (const Insight& one : found) EXPECT_LE(one.gain_ns.value_or(0), kSecond) << one.rule;
}

TEST(Advice, IdleThreadsDoNotDilute) {
  Scene scene;
  scene.calls(reads(2000, 128, 60 * kMicrosecond));
  for (std::int32_t tid = 20; tid < 84; ++tid) scene.thread(10, tid);
  const std::vector<Insight> found = advice_on(scene);
  ASSERT_NE(find_rule(found, "small-reads"), nullptr);
  EXPECT_EQ(find_rule(found, "small-reads")->severity, Severity::kHigh);
}

TEST(Advice, AFewSlowCallsMakeNoSmallReads) {
  const std::vector<Insight> found =
      advice_on(Scene().calls(reads(2000, 128, 300)).calls(reads(5, 128, 150 * kMillisecond)));
  EXPECT_EQ(find_rule(found, "small-reads"), nullptr);
}

TEST(Advice, OnABusyMachineSlowCallsWereInterrupted) {
  EXPECT_NE(find_rule(advice_on(slow_ones(100 * kMillisecond)), "slow-outliers"), nullptr);
  const Scene busy = slow_ones(100 * kMillisecond).counter("cpu_busy", 10, kSecond / 2, 98);
  EXPECT_EQ(find_rule(advice_on(busy), "slow-outliers"), nullptr);
}

TEST(Advice, LibrariesAndModulesAreNoData) {
  for (const char* place :
       {"/usr/lib/python3.11/", "/home/me/env/lib/python3.12/site-packages/",
        "/home/me/tool/__pycache__/", "/opt/tool/lib/", "/lib/x86_64-linux-gnu/"}) {
    Scene scene;
    for (int i = 0; i < 1600; ++i) {
      const std::string file = place + std::string("part") + std::to_string(i);
      scene.calls(at(named("posix", "open", "open", 1, 100 * kMicrosecond), file));
      scene.calls(at(reads(1, 4096, 100 * kMicrosecond), file));
    }
    const std::vector<Insight> found = advice_on(scene);
    EXPECT_EQ(find_rule(found, "many-small-files"), nullptr) << place;
    EXPECT_EQ(find_rule(found, "small-reads"), nullptr) << place;
  }
}

// Another thread computes while one reads: nothing is left to overlap. One that reads and computes
// in turns could save as much as the shorter of both.
TEST(Advice, WhatOverlapsAlreadySavesNothing) {
  const Calls blocks = reads(100, kMiB, 5 * kMillisecond);
  const std::vector<Insight> serial = advice_on(Scene().calls(blocks));
  ASSERT_NE(find_rule(serial, "io-bound"), nullptr);
  EXPECT_NEAR(static_cast<double>(find_rule(serial, "io-bound")->gain_ns.value_or(0)), 0.4e9, 1e6);
  EXPECT_EQ(find_rule(advice_on(Scene().calls(blocks).thread(10, 11)), "io-bound"), nullptr);
}

// What is read from a named pipe has no file, only a peer.
TEST(Advice, WaitingForANamedPipeIsNoReading) {
  const Calls pipe = at(reads(6, 100, 100 * kMillisecond), "");
  const std::vector<Insight> found = advice_on(Scene().calls(reads(20, kMiB, 1000)).calls(pipe));
  EXPECT_TRUE(found.empty() || found[0].severity == Severity::kGood) << found[0].rule;
}

// A minute of compiling with a few kernels, and then steps that keep the GPU busy.
TEST(Advice, WarmUpIsNoIdleGpu) {
  const auto warm = [](std::int64_t each) {
    Scene scene(10 * kSecond);
    for (int i = 0; i < 5; ++i)
      scene.calls(named("gpu", "gemm", "kernel", 1, kMillisecond)).idle(kSecond);
    for (int i = 0; i < 400; ++i)
      scene.calls(named("gpu", "gemm", "kernel", 1, each)).idle(10 * kMillisecond - each);
    return scene;
  };
  EXPECT_EQ(find_rule(advice_on(warm(9 * kMillisecond)), "gpus-idle"), nullptr);
  EXPECT_NE(find_rule(advice_on(warm(3 * kMillisecond)), "gpus-idle"), nullptr);
}

TEST(Advice, RulesOfOursPassTheJudgeOfStrangers) {
  const trace::testing::TempDir directory;
  Result<Store> store = Scene().open(directory.path() + "/scene.fathom");
  ASSERT_TRUE(store) << store.error().message;
  const Result<std::vector<Rule>> rules = own_rules();
  ASSERT_TRUE(rules) << rules.error().message;
  for (const Rule& rule : *rules) {
    EXPECT_TRUE(rule.own);
    EXPECT_TRUE(store->query_untrusted(rule.query)) << rule.id;
    EXPECT_TRUE(store->query_untrusted(rule.evidence)) << rule.id;
  }
}

}  // namespace
}  // namespace fathom::analysis
