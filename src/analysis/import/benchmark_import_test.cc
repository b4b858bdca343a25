// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/compare/compare.h"
#include "analysis/compare/repetitions.h"
#include "analysis/import/benchmark_results.h"
#include "analysis/testing/import_box.h"

namespace fathom::analysis {
namespace {

using ::testing::ElementsAre;

// As hyperfine 1.18 writes it, and `memory_usage_byte` of later ones.
constexpr char kHyperfine[] = R"({"results": [
  {"command": "sleep 0.1", "mean": 0.101, "stddev": 0.001, "median": 0.101, "user": 0.001,
   "system": 0.002, "min": 0.1, "max": 0.102, "times": [0.1, 0.1015, 0.102],
   "memory_usage_byte": [1000, 2000, 3000], "exit_codes": [0, 0, 1]},
  {"command": "./new \"a b\" --n 5", "mean": 0.2, "times": [0.2], "exit_codes": [null],
   "parameters": {"n": "5"}},
  {"command": "broken", "mean": 1}]})";

constexpr char kGoogle[] = R"({"context": {"host_name": "rack1", "num_cpus": 2}, "benchmarks": [
  {"name": "BM_sort/8", "run_name": "BM_sort/8", "run_type": "iteration", "repetitions": 2,
   "repetition_index": 0, "threads": 1, "iterations": 500, "real_time": 2.345, "cpu_time": 2.5,
   "time_unit": "ns", "items_per_second": 4.5e8},
  {"name": "BM_sort/8", "run_name": "BM_sort/8", "run_type": "iteration", "repetitions": 2,
   "repetition_index": 1, "threads": 1, "iterations": 500, "real_time": 2.5, "cpu_time": 2.5,
   "time_unit": "ns"},
  {"name": "BM_sort/8_mean", "run_name": "BM_sort/8", "run_type": "aggregate",
   "aggregate_name": "mean", "real_time": 2.4, "cpu_time": 2.5, "time_unit": "ns"},
  {"name": "BM_bad", "run_name": "BM_bad", "run_type": "iteration", "error_occurred": true,
   "error_message": "no", "real_time": 0, "time_unit": "ns"},
  {"name": "BM_slow_median", "run_name": "BM_slow", "run_type": "aggregate",
   "aggregate_name": "median", "real_time": 7, "cpu_time": 6, "time_unit": "ms"}]})";

constexpr char kStat[] = R"({"commands": [{"command": ["sort", "big file"], "runs": [
  {"exit": 0, "wall": 0.5, "user": 0.4, "system": 0.1, "max_rss": 4096, "minor_faults": 7,
   "events": {"page-faults": {"value": 7, "unit": ""}, "task-clock": {"value": 5e8, "unit": "ns"},
              "cycles": {"value": null, "unit": "", "reason": "none here"}}},
  {"exit": 0, "wall": null}]}], "noise": {}, "seed": 1})";

TEST(BenchmarkResults, OfHyperfine) {
  BenchmarkResults results;
  ASSERT_TRUE(read_hyperfine(kHyperfine, results));
  ASSERT_EQ(results.benchmarks.size(), 3U);
  const std::vector<BenchmarkRun>& runs = results.benchmarks[0].runs;
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[1].wall_ns, 101'500'000);
  EXPECT_EQ(runs[2].exit, 1);
  EXPECT_EQ(runs[2].numbers.at(0).value, 3000);
  EXPECT_EQ(results.benchmarks[1].command, "./new \"a b\" --n 5");
  EXPECT_FALSE(results.benchmarks[1].runs.at(0).exit);
  EXPECT_EQ(results.left_out["command without the times of its runs"], 1);
  EXPECT_EQ(results.left_out["mean of user and system time over all runs"], 1);
}

TEST(BenchmarkResults, OfGoogleBenchmarkAThousandIterations) {
  BenchmarkResults results;
  ASSERT_TRUE(read_google_benchmark(kGoogle, results));
  EXPECT_EQ(results.host, "rack1");
  ASSERT_EQ(results.benchmarks.size(), 2U);
  const std::vector<BenchmarkRun>& runs = results.benchmarks[0].runs;
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].wall_ns, 2345);
  EXPECT_EQ(runs[0].numbers.at(0).name, "cpu_user");
  EXPECT_NEAR(runs[0].numbers.at(0).value, 2.5e-6, 1e-15);
  EXPECT_EQ(runs[0].numbers.at(2).name, "items_per_second");
  // There are no runs of it: the median stands for them.
  EXPECT_EQ(results.benchmarks[1].name, "BM_slow");
  EXPECT_EQ(results.benchmarks[1].runs.at(0).wall_ns, 7'000'000'000);
  EXPECT_EQ(results.left_out["benchmark that failed"], 1);
  EXPECT_EQ(results.left_out["mean, median or spread of several runs"], 2);
}

TEST(BenchmarkResults, OfStat) {
  BenchmarkResults results;
  ASSERT_TRUE(read_stat(kStat, results));
  ASSERT_EQ(results.benchmarks.size(), 1U);
  EXPECT_EQ(results.benchmarks[0].command, "sort 'big file'");
  ASSERT_EQ(results.benchmarks[0].runs.size(), 1U);
  EXPECT_EQ(results.benchmarks[0].runs[0].wall_ns, 500'000'000);
  std::vector<std::string> names;
  for (const BenchmarkNumber& one : results.benchmarks[0].runs[0].numbers)
    names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("cpu_user", "cpu_system", "rss", "minor_faults", "page-faults",
                                 "task-clock"));
  EXPECT_EQ(results.left_out["run without a time"], 1);
}

TEST(BenchmarkResults, WhatIsNoneIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"results\": 5}", "{\"results\": [", "nothing"}) {
    BenchmarkResults results;
    EXPECT_FALSE(read_hyperfine(text, results)) << text;
  }
  BenchmarkResults results;
  ASSERT_TRUE(
      read_hyperfine(R"({"results": [{"command": "x", "times": [-1, 1e300, "a"]}]})", results));
  EXPECT_EQ(results.left_out["run without a time"], 3);
  EXPECT_TRUE(results.benchmarks[0].runs.empty());
}

class BenchmarkImportTest : public analysis::testing::ImportBox {};

TEST_F(BenchmarkImportTest, RunsAreRepetitions) {
  ASSERT_TRUE(import_into_trace({file("h.json", kHyperfine)}));
  const std::vector<std::string> runs = runs_in(join_path(trace(), "sleep_0.1"));
  EXPECT_EQ(runs.size(), 3U);
  ASSERT_TRUE(path_exists(join_path(trace(), "__new__a_b__--n_5/1")));
  EXPECT_FALSE(path_exists(join_path(trace(), "broken")));
}

TEST_F(BenchmarkImportTest, OneCommandNeedsNoNameInDiff) {
  ASSERT_TRUE(import_into_trace({file("s.json", kStat), file("t.json", kStat)}));
  EXPECT_EQ(runs_in(trace()).size(), 2U);
  const std::vector<std::string> runs = runs_in(trace());
  Result<Store> store = Store::open(runs[0]);
  ASSERT_TRUE(store);
  const Result<RunSums> sums = read_run(*store, runs[0]);
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->wall, 500'000'000);
  EXPECT_EQ(find_counter(sums->counters, "page-faults", "total"), 7);
  const auto memory = std::ranges::find(sums->figures, "peak memory", &Figure::name);
  ASSERT_NE(memory, sums->figures.end());
  EXPECT_EQ(memory->value, 4096);
}

TEST_F(BenchmarkImportTest, TheFormatIsToldByItsContent) {
  ASSERT_TRUE(import_into_trace({file("g.json", kGoogle)}));
  EXPECT_EQ(runs_in(join_path(trace(), "BM_sort_8")).size(), 2U);
  EXPECT_FALSE(import_into_trace({file("empty.json", R"({"results": [], "mean": 1})")}));
}

}  // namespace
}  // namespace fathom::analysis
