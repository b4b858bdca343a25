// SPDX-License-Identifier: MIT
// Time of devices is no thread's: it stands beside theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/insights/scene_test.h"
#include "analysis/report.h"
#include "analysis/view_tools.h"
#include "trace/testing/spool_builder.h"

namespace fathom::analysis {
namespace {

using testing::kMillisecond;
using testing::kSecond;
using testing::Scene;

Report overview_of(const Scene& scene) {
  const trace::testing::TempDir directory;
  Result<Store> store = scene.open(directory.path() + "/scene.fathom");
  EXPECT_TRUE(store) << store.error().message;
  const Result<const ViewDef*> view = choose_view("overview", {});
  EXPECT_TRUE(view) << view.error().message;
  Result<Report> report = make_report(**view, *store, {});
  EXPECT_TRUE(report) << report.error().message;
  return std::move(report).value();
}

// A second of a thread, of which calls take a fifth, and three quarters of a GPU.
Scene training() {
  return Scene(kSecond)
      .calls({.layer = "cuda",
              .name = "cuLaunchKernel",
              .category = "launch",
              .file = "",
              .count = 200,
              .dur = kMillisecond})
      .calls({.layer = "gpu",
              .name = "gemm",
              .category = "kernel",
              .file = "",
              .count = 250,
              .dur = 3 * kMillisecond});
}

TEST(DeviceTime, IsToldApart) {
  const Report report = overview_of(training());
  EXPECT_THAT(report.words, ::testing::Contains(::testing::HasSubstr(
                                "cuda cuLaunchKernel took 200 ms, 20.0 % of the wall time")));
  EXPECT_THAT(report.words, ::testing::Contains(::testing::HasSubstr(
                                "80.0 % of the main thread's time was outside recorded calls")));
  EXPECT_THAT(report.words, ::testing::Contains(::testing::HasSubstr(
                                "GPUs did 750 ms of work (250 kernels and copies) in the 750 ms")));
}

// Threads that the recording does not list: their calls take longer than the run.
TEST(DeviceTime, NoShareIsAboveHundredPercent) {
  const Report report =
      overview_of(Scene(kMillisecond).calls({.count = 100, .dur = kMillisecond / 4}));
  for (const std::string& words : report.words) {
    EXPECT_THAT(words, ::testing::Not(::testing::ContainsRegex("[1-9][0-9][0-9][.][0-9] %")));
    EXPECT_THAT(words, ::testing::Not(::testing::HasSubstr("main thread")));
  }
  EXPECT_THAT(report.words, ::testing::Contains(::testing::HasSubstr("posix read took 25.0 ms: ")));
}

TEST(DeviceTime, HasNoShareOfThreads) {
  const Report report = overview_of(training());
  std::map<std::string, Value> shares;
  for (const auto& row : report.sections.at(0).table.rows) shares[text_of(row[0])] = row[3];
  EXPECT_TRUE(shares.at("gpu").is_null());
  EXPECT_NEAR(std::get<double>(shares.at("cuda").data), 20, 0.1);
  EXPECT_NEAR(std::get<double>(shares.at("(outside recorded calls)").data), 80, 0.1);
  for (const auto& row : report.sections.at(1).table.rows)
    EXPECT_EQ(row[3].is_null(), text_of(row[1]) == "gpu") << "of a function";
  EXPECT_THAT(report.sections.at(0).table.note, ::testing::HasSubstr("which no thread spent"));
}

TEST(DeviceTime, NobodyWithoutAGpuHearsOfIt) {
  for (const std::string& words : overview_of(Scene().calls({.count = 10})).words)
    EXPECT_EQ(words.find("GPU"), std::string::npos) << words;
}

}  // namespace
}  // namespace fathom::analysis
