// SPDX-License-Identifier: MIT
#include "containers/live_metrics.h"

#include <gtest/gtest.h>

#include "base/private_files.h"
#include "trace/recording/packer.h"
#include "trace/testing/recordings.h"

namespace fathom::containers {
namespace {

const MeasuredRun kRun{.application = "my \"app\"", .kind = "plain", .recording = ""};

TEST(LiveMetrics, WhatTheRecorderSamplesHasNamesOfItsOwn) {
  analysis::Activity activity;
  activity.counters = {{"cgroup_cpu", "ns", 1.5e9}, {"gpu-0 busy", "%", 7}, {"rss", "bytes", 5}};
  const std::string labels = "{application=\"my \\\"app\\\"\",run=\"plain\"}";
  EXPECT_EQ(prometheus_text(activity, kRun),
            "# TYPE fathom_cgroup_cpu_seconds untyped\nfathom_cgroup_cpu_seconds" + labels +
                " 1.5\n# TYPE fathom_gpu_0_busy untyped\nfathom_gpu_0_busy" + labels +
                " 7\n# TYPE fathom_rss_bytes untyped\nfathom_rss_bytes" + labels + " 5\n");
  EXPECT_EQ(prometheus_text({}, kRun), "");
}

TEST(LiveMetrics, NamesHaveTheirUnitOnce) {
  analysis::Activity activity;
  activity.counters = {{"cgroup_read_bytes", "bytes", 5}, {"busy_seconds", "ns", 1e9}};
  const std::string text = prometheus_text(activity, kRun);
  EXPECT_NE(text.find("\nfathom_cgroup_read_bytes{"), std::string::npos) << text;
  EXPECT_NE(text.find("\nfathom_busy_seconds{"), std::string::npos) << text;
}

TEST(LiveMetrics, NamesOfTheApplicationAreLabels) {
  analysis::Activity activity;
  activity.app_counters = {{"boats", "", 3}, {"x\"} 1\nup", "", 0.5}};
  activity.app_counters_left_out = 12;
  const std::string text = prometheus_text(activity, {.application = "a", .kind = "probed"});
  EXPECT_NE(text.find("\n# TYPE fathom_app_counter gauge\n"
                      "fathom_app_counter{application=\"a\",run=\"probed\",name=\"boats\"} 3\n"
                      "fathom_app_counter{application=\"a\",run=\"probed\","
                      "name=\"x\\\"} 1\\\\nup\"} 0.5\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(
      text.ends_with("\nfathom_app_values_left_out_total{application=\"a\",run=\"probed\"} 12\n"))
      << text;
}

// A recording as the recorder makes it, with one row of a counter.
class GrowingRun {
 public:
  explicit GrowingRun(double value) : packer_(open()) {
    trace::Strings strings;
    trace::HostRows rows;
    rows.counters.rows = {{.ts = 5,
                           .layer = strings.code("resource"),
                           .name = strings.code("load"),
                           .unit = strings.code("tasks"),
                           .value = value}};
    EXPECT_TRUE(packer_.append(rows, strings).has_value());
  }
  [[nodiscard]] MeasuredRun run() const { return {"a", "probed", directory_.path()}; }
  void remove() const { EXPECT_TRUE(remove_tree(builder_.directory()).has_value()); }

 private:
  trace::Packer open() {
    return trace::Packer::open(directory_.path(), trace::Manifest{}, {}).value();
  }
  trace::testing::TempDir directory_;
  trace::testing::SpoolBuilder builder_{directory_.path(), true};
  trace::Packer packer_;
};

TEST(LiveMetrics, ValuesAreOfTheRunThatBeganLast) {
  LiveMetrics metrics(/*pause_ns=*/0);
  EXPECT_EQ(metrics.text(), "") << "nothing runs";
  const GrowingRun first(1), second(2);
  metrics.begin_run({"a", "probed", "/nonexistent"});
  EXPECT_EQ(metrics.text(), "") << "its recording is not there yet";
  metrics.begin_run(first.run());
  EXPECT_NE(metrics.text().find("fathom_load{application=\"a\",run=\"probed\"} 1\n"),
            std::string::npos)
      << metrics.text();
  first.remove();
  EXPECT_NE(metrics.text().find("} 1\n"), std::string::npos) << "the last values stay";
  metrics.begin_run(second.run());
  EXPECT_NE(metrics.text().find("} 2\n"), std::string::npos);
}

}  // namespace
}  // namespace fathom::containers
