// SPDX-License-Identifier: MIT
#include "containers/live_metrics.h"

#include <gtest/gtest.h>

namespace fathom::containers {
namespace {

TEST(LiveMetrics, TheLastValueOfTheWholeRunIsTold) {
  LiveMetrics metrics;
  trace::Strings strings;
  metrics.begin_run("my \"app\"", "plain");
  const auto row = [&](const char* name, const char* unit, double value) {
    return trace::CounterRow{
        .name = strings.code(name), .unit = strings.code(unit), .value = value};
  };
  trace::CounterRow of_process = row("rss", "bytes", 5);
  of_process.pid = 7;
  const trace::CounterRow rows[] = {row("cgroup_cpu", "ns", 1e9), row("cgroup_cpu", "ns", 1.5e9),
                                    row("gpu-0 busy", "%", 7), of_process};
  metrics.take(strings, rows);
  EXPECT_EQ(metrics.text(),
            "# TYPE fathom_cgroup_cpu_seconds untyped\n"
            "fathom_cgroup_cpu_seconds{application=\"my \\\"app\\\"\",run=\"plain\"} 1.5\n"
            "# TYPE fathom_gpu_0_busy untyped\n"
            "fathom_gpu_0_busy{application=\"my \\\"app\\\"\",run=\"plain\"} 7\n");
  metrics.begin_run("next", "probed");
  EXPECT_EQ(metrics.text(), "");
}

TEST(LiveMetrics, LoopbackUnlessTold) {
  const auto metrics = LiveMetrics::serve("0");
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_TRUE((*metrics)->address().starts_with("127.0.0.1:"));
  EXPECT_FALSE(LiveMetrics::serve((*metrics)->address()));  // it is taken
  for (const char* wrong : {"", "x", "localhost:1", "1:2:3"})
    EXPECT_FALSE(LiveMetrics::serve(wrong)) << wrong;
}

}  // namespace
}  // namespace fathom::containers
