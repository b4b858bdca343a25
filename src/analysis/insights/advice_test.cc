// SPDX-License-Identifier: MIT
// What all rules together say of a recording: in which order, how grave, and where nothing is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/insights/insights.h"
#include "analysis/insights/scene_test.h"
#include "trace/spool/losses.h"
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
using testing::of;
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

// A call of stdio that fills or empties its buffer takes longer than those between.
TEST(Advice, BuffersAreNoOutliers) {
  Calls lines{.layer = "stdio", .name = "fprintf", .category = "write", .file = "/data/log"};
  lines.count = 40'000;
  lines.dur = kMicrosecond / 20;
  lines.bytes = 40;
  Calls flushes = lines;
  flushes.count = 390;
  flushes.dur = 100 * kMicrosecond;
  EXPECT_EQ(find_rule(advice_on(Scene().calls(lines).calls(flushes)), "slow-outliers"), nullptr);
}

// A parent that runs one short process after the other could save what starting them took, too.
TEST(Advice, StartingAProcessIsPartOfItsCost) {
  Scene scene(kSecond);
  scene.calls(named("posix", "vfork", "process", 400, kMillisecond));
  for (std::int32_t pid = 1000; pid < 1400; ++pid) scene.short_process(pid, kMillisecond);
  const std::vector<Insight> found = advice_on(scene);
  ASSERT_NE(find_rule(found, "process-storm"), nullptr);
  EXPECT_NEAR(static_cast<double>(find_rule(found, "process-storm")->gain_ns.value_or(0)), 0.8e9,
              1e6);
}

TEST(Advice, UnlockedCallsTakeNoLock) {
  Calls lines{.layer = "stdio", .name = "fwrite", .category = "write", .file = "/data/log"};
  lines.count = 400'000;
  lines.dur = kMicrosecond;
  lines.bytes = 256;
  EXPECT_NE(find_rule(advice_on(Scene().calls(lines)), "stdio-bytes"), nullptr);
  lines.name = "fwrite_unlocked";
  EXPECT_EQ(find_rule(advice_on(Scene().calls(lines)), "stdio-bytes"), nullptr);
}

// A file that is read again does not grow.
TEST(Advice, SmallFilesAreAsLargeAsTheyAre) {
  Scene scene;
  for (int i = 0; i < 1600; ++i) {
    const std::string file = "/data/sample" + std::to_string(i);
    for (int time = 0; time < 5; ++time) {
      scene.calls(at(named("posix", "open", "open", 1, 30 * kMicrosecond), file));
      scene.calls(at(reads(1, 100'000, 10 * kMicrosecond), file));
    }
  }
  const std::vector<Insight> found = advice_on(scene);
  ASSERT_NE(find_rule(found, "many-small-files"), nullptr);
  EXPECT_NE(find_rule(found, "many-small-files")->says.find("1.60 k files of 97.7 KiB"),
            std::string::npos)
      << find_rule(found, "many-small-files")->says;
}

// The sums have a row for each call, file and process: what is worst is worst in all of its rows.
TEST(Advice, TheWorstIsThatOfAllRows) {
  Scene calls;
  for (int i = 0; i < 500; ++i)
    calls.calls(at(named("posix", "rmdir", "metadata", 2, 200 * kMicrosecond),
                   "/data/part" + std::to_string(i)));
  calls.calls(at(named("posix", "mkdir", "metadata", 100, 100 * kMicrosecond), "/data/part"));
  const std::vector<Insight> of_calls = advice_on(calls);
  ASSERT_NE(find_rule(of_calls, "metadata-time"), nullptr);
  EXPECT_NE(find_rule(of_calls, "metadata-time")->advice.find("most of it: rmdir"),
            std::string::npos);
  Scene files;
  for (std::int32_t pid = 10; pid < 14; ++pid)
    files.calls(by(reads(1000, 512, 100 * kMicrosecond), pid));
  files.calls(by(at(reads(2000, 512, 100 * kMicrosecond), "/data/other"), 14));
  const std::vector<Insight> of_files = advice_on(files);
  ASSERT_NE(find_rule(of_files, "small-reads"), nullptr);
  EXPECT_NE(find_rule(of_files, "small-reads")->advice.find("worst file: /data/in"),
            std::string::npos);
}

// Sums do not tell the sizes and the time of the small calls of a row apart from those of others.
TEST(Advice, LargeCallsMakeSmallOnesNotLarger) {
  const std::vector<Insight> found = advice_on(Scene()
                                                   .calls(reads(40'000, 100, 2 * kMicrosecond))
                                                   .calls(reads(20, 16 * kMiB, 8 * kMillisecond)));
  ASSERT_NE(find_rule(found, "small-reads"), nullptr);
  EXPECT_NE(find_rule(found, "small-reads")->says.find("(about 96 B each) took 81.9 ms"),
            std::string::npos)
      << find_rule(found, "small-reads")->says;
}

// Nobody knows where calls without a position have been.
TEST(Advice, WhatHasNoPlaceWasNotReadBefore) {
  Calls anywhere = reads(300, 65536, 100 * kMicrosecond);
  const Calls blocks = reads(100, 65536, 100 * kMicrosecond);
  EXPECT_NE(find_rule(advice_on(Scene().calls(blocks).calls(blocks)), "read-again"), nullptr);
  anywhere.offset = -1;
  EXPECT_EQ(find_rule(advice_on(Scene().calls(blocks).calls(anywhere)), "read-again"), nullptr);
}

// "500 times each" is for several files, and an average as well.
TEST(Advice, OfOneFileNothingIsAnAverage) {
  const auto says = [](std::string_view rule, const Calls& calls, int files) {
    Scene scene;
    for (int i = 0; i < files; i++)
      scene.calls(of(calls, [&](Calls& one) { one.file = "/data/" + std::to_string(i); }));
    const std::vector<Insight> found = advice_on(scene);
    const Insight* const one = find_rule(found, rule);
    return one == nullptr ? "" : one->says;
  };
  const Calls opens = {
      .name = "open", .category = "open", .count = 1500, .dur = 100 * kMicrosecond};
  EXPECT_EQ(says("open-close-churn", opens, 1),
            "The program opened 1 file 1.50 k times; opening and closing took 150 ms");
  EXPECT_EQ(says("open-close-churn", opens, 2),
            "The program opened 2 files 3.00 k times (1500 times per file on average); opening and "
            "closing took 300 ms");
  const Calls stats = {
      .name = "stat", .category = "metadata", .count = 1500, .dur = 100 * kMicrosecond};
  EXPECT_THAT(
      says("repeated-stat", stats, 1),
      ::testing::StartsWith("1.50 k stat or access calls asked about 1 file and took 150 ms, "));
  EXPECT_THAT(
      says("repeated-stat", stats, 2),
      ::testing::StartsWith("3.00 k stat or access calls asked about 2 files (1500 per file on "
                            "average) and took 300 ms, "));
}

// What was asked for is not lost, and an event without a name is there.
TEST(Advice, NotEveryLossHidesEvents) {
  for (const char* reason :
       {"left out by --filter min", "beyond the number asked for", "text cut short",
        "names and positions that could not be asked for inside a sandbox",
        "a file's path could not be read: too long, or not reachable",
        "a file's path did not arrive", trace::kNoRoomForPaths, trace::kCutStacks,
        trace::kUncertainPython, trace::kUnnamedFrames, trace::kNamelessFrames,
        "stacks of Python of which it is not certain what they ran"}) {
    const trace::Loss loss{"posix", reason, 1};
    EXPECT_FALSE(trace::is_lost(loss) && trace::hides_events(loss)) << reason;
    EXPECT_EQ(find_rule(advice_on(Scene().loss(reason, 5)), "events-lost"), nullptr) << reason;
  }
  EXPECT_NE(find_rule(advice_on(Scene().loss("no room in the spool", 5)), "events-lost"), nullptr);
}

TEST(Advice, OfLostEventsDependsOnTheReason) {
  const auto advice_for = [](const std::string& reason) {
    const std::vector<Insight> found = advice_on(Scene().loss(reason, 5).loss("another", 1));
    const Insight* const lost = find_rule(found, "events-lost");
    return lost == nullptr ? "" : lost->advice;
  };
  EXPECT_NE(advice_for("no room in the spool").find("--spool-max"), std::string::npos);
  EXPECT_NE(advice_for("no room in the ring of single calls").find("--kernel-ring"),
            std::string::npos);
  EXPECT_NE(advice_for("no room for sums").find("--kernel-rows"), std::string::npos);
  for (const char* reason :
       {"not available in this Python version: loops before 3.12, C calls while the program "
        "profiles",
        "interpreters that could not be traced", "damaged pool"})
    EXPECT_EQ(advice_for(reason).find("--spool-max"), std::string::npos) << reason;
  EXPECT_NE(advice_for("not told by this Python: loops before 3.12").find("3.12"),
            std::string::npos);
}

TEST(Advice, WorkersAreOfOneProgramAndNobodysParents) {
  const auto work = [](std::int32_t first, const std::string& program) {
    return Scene()
        .calls(by(reads(400, kMiB, kMillisecond), 10))
        .calls(by(reads(100, kMiB, kMillisecond), 11))
        .child(11, first, program);
  };
  for (const char* rule : {"process-bytes-imbalance", "process-time-imbalance"}) {
    EXPECT_NE(find_rule(advice_on(work(1, "work")), rule), nullptr) << rule;
    EXPECT_EQ(find_rule(advice_on(work(10, "work")), rule), nullptr) << rule;
    EXPECT_EQ(find_rule(advice_on(work(1, "other")), rule), nullptr) << rule;
  }
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
