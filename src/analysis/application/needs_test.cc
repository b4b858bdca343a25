// SPDX-License-Identifier: MIT
#include "analysis/application/needs.h"

#include <gtest/gtest.h>

#include "analysis/application/recommend.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kMiB = 1 << 20;

ContainerRun run_of(double wall_s) { return {.kind = kPlain, .recording = {}, .wall_s = wall_s}; }

Usage group_usage() {
  Usage usage;
  usage.of_group = true;
  usage.cpu = Growth({{0, 0}, {1 * kSecond, 0.5}, {2 * kSecond, 1.5}, {3 * kSecond, 1.5}});
  usage.memory =
      Level({{0, 10 * kMiB}, {1, 30 * kMiB}, {2, 20 * kMiB}, {3, 20 * kMiB}, {4, 20 * kMiB}});
  usage.pids = Level({{0, 1}, {1, 3}, {2, 1}});
  return usage;
}

TEST(Needs, TypicalAndPeak) {
  const std::vector<Need> needs = needs_of(group_usage(), run_of(3));
  EXPECT_DOUBLE_EQ(amount_of(needs, "cpu_cores").typical.value(), 0.5);
  EXPECT_DOUBLE_EQ(amount_of(needs, "cpu_cores").peak.value(), 1);
  EXPECT_DOUBLE_EQ(amount_of(needs, "memory_bytes").typical.value(), 20 * kMiB);
  EXPECT_DOUBLE_EQ(amount_of(needs, "memory_bytes").peak.value(), 30 * kMiB);
  EXPECT_DOUBLE_EQ(amount_of(needs, "pids").peak.value(), 3);
}

TEST(Needs, WhatWasNotMeasuredHasAReasonAndNoNumber) {
  for (const Need& need : needs_of(Usage(), run_of(1))) {
    EXPECT_FALSE(need.amount.typical || need.amount.peak) << need.name;
    EXPECT_FALSE(need.amount.reason.empty()) << need.name;
  }
}

TEST(Needs, WhoRanOutOfMemoryHadAllThatItMayHave) {
  Usage usage = group_usage();
  usage.memory_limit = 64 * kMiB;
  ContainerRun run = run_of(3);
  run.oom = true;
  const std::vector<Need> needs = needs_of(usage, run);
  EXPECT_DOUBLE_EQ(amount_of(needs, "memory_bytes").peak.value(), 64 * kMiB);
  EXPECT_FALSE(amount_of(needs, "memory_bytes").reason.empty());
}

TEST(Needs, OfAShortRunTheKernelsPeakTells) {
  Usage usage = group_usage();
  usage.memory = Level({{0, 10 * kMiB}});
  usage.memory_peak = 50 * kMiB;
  usage.most_inactive_file = 8 * kMiB;
  EXPECT_DOUBLE_EQ(amount_of(needs_of(usage, run_of(1)), "memory_bytes").peak.value(), 42 * kMiB);
}

TEST(Needs, WritesThatTheGroupMissesAreSaid) {
  constexpr char kLacks[] = "without those that the page cache makes later";
  Usage usage = group_usage();
  usage.disk_written = Growth({{0, 0}, {1 * kSecond, 10 * kMiB}});
  EXPECT_EQ(amount_of(needs_of(usage, run_of(1)), "disk_write_rate").reason, "");
  usage.facts["cgroup.writes"] = kLacks;
  const Amount amount = amount_of(needs_of(usage, run_of(1)), "disk_write_rate");
  EXPECT_DOUBLE_EQ(amount.typical.value(), 10 * kMiB);
  EXPECT_EQ(amount.reason, std::string("writes ") + kLacks);
  EXPECT_EQ(amount_of(needs_of(usage, run_of(1)), "disk_read_rate").reason,
            "the control group does not count transfers");
}

TEST(Needs, ARefusedProcessMeansThatTheLimitWasReached) {
  Usage usage = group_usage();
  usage.pids_limit = 24;
  EXPECT_DOUBLE_EQ(amount_of(needs_of(usage, run_of(1)), "pids").peak.value(), 3);
  usage.pids_refused = 5;
  EXPECT_DOUBLE_EQ(amount_of(needs_of(usage, run_of(1)), "pids").peak.value(), 24);
}

TEST(Needs, OfSeveralRunsTheMedianAndTheLargestPeak) {
  const auto needs =
      merged_needs({needs_of(group_usage(), run_of(3)), needs_of(group_usage(), run_of(1)),
                    needs_of(group_usage(), run_of(2))});
  EXPECT_DOUBLE_EQ(amount_of(needs, "cpu_cores").typical.value(), 0.75);
  EXPECT_DOUBLE_EQ(amount_of(needs, "cpu_cores").peak.value(), 1.5);
}

TEST(Recommend, QuantitiesAreNeverBelow) {
  EXPECT_EQ(cpu_quantity(0.25), "250m");
  EXPECT_EQ(cpu_quantity(0.2501), "251m");
  EXPECT_EQ(cpu_quantity(2), "2");
  EXPECT_EQ(memory_quantity(kMiB), "1Mi");
  EXPECT_EQ(memory_quantity(kMiB + 1), "2Mi");
}

TEST(Recommend, RequestsCoverWhatIsTypicalAndLimitsThePeak) {
  const Recommendation advice = recommendation_for(needs_of(group_usage(), run_of(3)));
  EXPECT_EQ(advice.requests.cpu, "550m");
  EXPECT_EQ(advice.limits.cpu, "1200m");
  EXPECT_EQ(advice.requests.memory, "22Mi");
  EXPECT_EQ(advice.limits.memory, "36Mi");
}

TEST(Recommend, WithoutNumbersThereIsNone) {
  const Recommendation advice = recommendation_for(needs_of(Usage(), run_of(1)));
  EXPECT_EQ(advice.limits.cpu + advice.limits.memory, "");
  EXPECT_FALSE(advice.reason.empty());
}

TEST(Profile, WithoutARunThereIsNone) { EXPECT_FALSE(application_profile({})); }

TEST(Profile, ARecordingThatDoesNotOpenCostsItselfAlone) {
  const ContainerRun runs[] = {
      {.kind = kProbed, .recording = "/no/such.fathom", .exit = 137, .oom = true, .wall_s = 3},
      {.kind = kPlain, .recording = "/none/either.fathom", .exit = 0, .wall_s = 2}};
  const Result<Profile> profile = application_profile(runs);
  ASSERT_TRUE(profile);
  EXPECT_DOUBLE_EQ(profile->overhead.ratio.value(), 1.5);
  EXPECT_EQ(profile->runs.size(), 2U);
  EXPECT_FALSE(profile->needs.front().amount.reason.empty());
  EXPECT_GE(profile->words.size(), 3U);  // its end, and both recordings
}

}  // namespace
}  // namespace fathom::analysis
