// SPDX-License-Identifier: MIT
#include "fleet/history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/dice.h"

namespace fathom::fleet {
namespace {

using nlohmann::json;
using Values = std::vector<double>;

// Jobs that have records and nothing else.
class Records : public JobStore {
 public:
  std::map<std::string, std::vector<std::string>> of_job;

  Result<std::vector<Job>> jobs() override { return std::vector<Job>(); }
  Result<Job> job(const std::string& name) override { return Job{name, "", 0}; }
  Status create(const Job&) override { return {}; }
  Status remove(const std::string&) override { return {}; }
  Status add_profile(const std::string&, const ProfileBatch&) override { return {}; }
  Status add_records(const std::string&, const std::string&, const RecordBatch&) override {
    return {};
  }
  Status profile(const std::string&, const TakesRow&) override { return {}; }
  Status records(const std::string& job, const std::string& kind, std::int64_t from,
                 const TakesRecord& take) override {
    EXPECT_EQ(from, 0);
    const auto found = of_job.find(job);
    if (found == of_job.end()) return Error{Code::kNotFound, "no job '" + job + "'", ""};
    if (kind != kBenchmarks && kind != "own") return {};
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      if (!take(static_cast<std::int64_t>(i), found->second[i])) break;
    }
    return {};
  }
  Status clear_profile(const std::string&) override { return {}; }
  Status clear_records(const std::string&, const std::string&) override { return {}; }
  Result<std::vector<RecordKind>> kinds() override { return std::vector<RecordKind>(); }
  Status add_kind(const RecordKind&) override { return {}; }
};

json run_of(double wall, const std::map<std::string, double>& events = {}, int exit = 0) {
  json run = {{"exit", exit}, {"wall", wall}, {"events", json::object()}};
  for (const auto& [name, value] : events) run["events"][name] = {{"value", value}, {"unit", ""}};
  return run;
}

std::string record_of(const json& runs, const std::string& host = "north",
                      const std::string& program = "./solve") {
  return json{{"command", {program, "a b"}},
              {"host", host},
              {"machine", {{"cpu", host}, {"cores", 8}}},
              {"revision", "r"},
              {"time", "2026-01-01T00:00:00Z"},
              {"runs", runs}}
      .dump();
}

std::string record_of_walls(const Values& walls, const std::string& host = "north",
                            const std::string& program = "./solve") {
  json runs = json::array();
  for (const double wall : walls) runs.push_back(run_of(wall));
  return record_of(runs, host, program);
}

Values noisy(std::uint64_t seed, std::size_t count, double mean = 1) {
  Dice dice(seed);
  Values values;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;  // of twelve even numbers: about normal, with a deviation of 1
    for (int k = 0; k < 12; ++k) sum += static_cast<double>(dice.below(1'000'000)) / 1e6;
    values.push_back(mean * (1 + 0.01 * (sum - 6)));
  }
  return values;
}

const Object& object_of(const Value& value) { return std::get<Object>(value.data); }
const Value& at(const Value& value, const std::string& key) {
  for (const auto& [name, held] : object_of(value)) {
    if (name == key) return held;
  }
  static const Value kNone;
  ADD_FAILURE() << "no " << key;
  return kNone;
}
const List& list_at(const Value& value, const std::string& key) {
  return std::get<List>(at(value, key).data);
}
std::string text_in(const Value& value, const std::string& key) {
  return std::get<std::string>(at(value, key).data);
}

TEST(History, ReadsRunsOfEachBenchmarkMetricAndMachine) {
  History history;
  add_record(0, record_of({run_of(1, {{"cycles", 5}}), run_of(2)}), history);
  add_record(1, record_of_walls({3}, "south"), history);
  add_record(2, record_of_walls({4}), history);
  ASSERT_EQ(history.benchmarks.size(), 2U);
  const BenchmarkHistory& north = history.benchmarks[0];
  EXPECT_EQ(north.benchmark, "./solve 'a b'");
  EXPECT_EQ(north.host, "north");
  ASSERT_EQ(north.metrics.size(), 2U);
  EXPECT_EQ(north.metrics[0].metric, "wall");
  ASSERT_EQ(north.metrics[0].points.size(), 2U);
  EXPECT_EQ(north.metrics[0].points[0].values, (Values{1, 2}));
  EXPECT_EQ(north.metrics[0].points[1].record, 2);
  EXPECT_EQ(north.metrics[1].metric, "cycles");
  EXPECT_EQ(history.records.size(), 3U);
}

TEST(History, DamageIsCountedAndLeftOut) {
  History history;
  const std::string deep(100'000, '[');
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("7"), std::string(R"({"runs": 5})"), deep,
        R"({"machine": )" + deep + "}"})
    add_record(0, text, history);
  EXPECT_EQ(history.damaged, 6);
  EXPECT_TRUE(history.benchmarks.empty());
  // A brace in a text is none.
  add_record(1, R"({"command": [")" + std::string(100, '{') + R"(\""], "runs": [{"wall": 1}]})",
             history);
  EXPECT_EQ(history.damaged, 6);
  EXPECT_EQ(history.benchmarks.size(), 1U);
}

TEST(History, WhatWasNotMeasuredIsNoValue) {
  History history;
  add_record(
      0,
      R"({"command": ["x"], "runs": [{"exit": 0, "wall": 1, "size": 2, "user": null, "note": "no",
      "events": {"cycles": {"value": null}, "faults": {"value": 3}, "plain": 4, "odd": {"value": {}}}}]})",
      history);
  ASSERT_EQ(history.benchmarks.size(), 1U);
  std::vector<std::string> names;
  for (const MetricHistory& metric : history.benchmarks[0].metrics) names.push_back(metric.metric);
  EXPECT_EQ(names, (std::vector<std::string>{"wall", "size", "faults", "plain"}));
}

TEST(History, RunsThatFailedAreLeftOut) {
  History history;
  add_record(0, record_of({run_of(1), run_of(0.1, {}, 1)}), history);
  add_record(1, R"({"command": ["x"], "runs": [{"exit": null, "wall": 1}]})", history);
  EXPECT_EQ(history.failed_runs, 2);
  EXPECT_EQ(history.benchmarks[0].metrics[0].points[0].values, Values{1});
  EXPECT_TRUE(history.benchmarks[1].metrics.empty());
}

TEST(History, OwnKindsNeedNoRuns) {
  History history;
  add_record(0, R"({"name": "queue", "depth": 7, "host": "h"})", history);
  ASSERT_EQ(history.benchmarks.size(), 1U);
  EXPECT_EQ(history.benchmarks[0].benchmark, "queue");
  EXPECT_EQ(history.benchmarks[0].metrics[0].metric, "depth");
}

TEST(CompareJobs, SlowerFasterAndTheSame) {
  for (const auto& [factor, verdict] :
       std::map<double, std::string>{{1.05, "slower"}, {0.95, "faster"}}) {
    Records store;
    store.of_job["a"] = {record_of_walls(noisy(1, 30))};
    store.of_job["b"] = {record_of_walls(noisy(2, 30, factor))};
    const Result<HistoryAnswer> answer = compare_jobs(store, "a", "b");
    ASSERT_TRUE(answer);
    ASSERT_EQ(list_at(answer->object, "comparison").size(), 1U);
    const Value& row = list_at(answer->object, "comparison")[0];
    EXPECT_EQ(text_in(row, "verdict"), verdict);
    EXPECT_EQ(text_in(row, "benchmark"), "./solve 'a b'");
    EXPECT_EQ(answer->found, verdict == "slower");
  }
}

TEST(CompareJobs, FewRunsCannotTell) {
  Records store;
  store.of_job["a"] = {record_of_walls({1, 1.1, 1.2})};
  store.of_job["b"] = {record_of_walls({2, 2.1, 2.2})};
  const Result<HistoryAnswer> answer = compare_jobs(store, "a", "b");
  ASSERT_TRUE(answer);
  EXPECT_EQ(text_in(list_at(answer->object, "comparison")[0], "verdict"), "cannot tell");
  EXPECT_FALSE(answer->found);
}

TEST(CompareJobs, ManyBenchmarksAreCorrectedTogether) {
  Records store;
  for (int i = 0; i < 30; ++i) {
    const std::string program = "./p" + std::to_string(i);
    // Five against five, all larger: 2 of 252 orders, which 30 questions make likely.
    const bool differs = i == 0;
    store.of_job["a"].push_back(record_of_walls({1, 1.1, 1.2, 1.3, 1.4}, "h", program));
    store.of_job["b"].push_back(record_of_walls(
        differs ? Values{2, 2.1, 2.2, 2.3, 2.4} : Values{1, 1.1, 1.2, 1.3, 1.4}, "h", program));
  }
  const Result<HistoryAnswer> answer = compare_jobs(store, "a", "b");
  ASSERT_TRUE(answer);
  EXPECT_EQ(text_in(list_at(answer->object, "comparison")[0], "verdict"), "cannot tell");
}

TEST(CompareJobs, NothingToCompareIsAnError) {
  Records store;
  store.of_job["some"] = {record_of_walls({1, 2})};
  store.of_job["none"] = {};
  store.of_job["failed"] = {record_of(json::array({run_of(1, {}, 1)}))};
  store.of_job["other"] = {record_of_walls({1, 2}, "north", "./other")};
  store.of_job["elsewhere"] = {record_of_walls({1, 2}, "south")};
  for (const std::string job : {"none", "failed", "other", "elsewhere"}) {
    const Result<HistoryAnswer> answer = compare_jobs(store, "some", job);
    ASSERT_FALSE(answer) << job;
    EXPECT_EQ(answer.error().code, Code::kInvalid);
    EXPECT_FALSE(answer.error().hint.empty());
  }
  EXPECT_EQ(compare_jobs(store, "some", "gone").error().code, Code::kNotFound);
  EXPECT_NE(compare_jobs(store, "some", "elsewhere").error().message.find("machines"),
            std::string::npos);
}

TEST(Trend, AStepOfManyMetricsIsOneAlert) {
  Records store;
  const Values walls = noisy(3, 60);
  std::vector<Values> counts;
  for (int i = 0; i < 8; ++i) counts.push_back(noisy(10 + static_cast<std::uint64_t>(i), 60, 1e6));
  for (std::size_t day = 0; day < 60; ++day) {
    const double factor = day < 30 ? 1 : 1.05;
    std::map<std::string, double> events;
    for (std::size_t i = 0; i < 8; ++i)
      events[fmt::format("event-{}", i)] = std::round(factor * counts[i][day]);
    store.of_job["j"].push_back(record_of(json::array({run_of(factor * walls[day], events)})));
  }
  const Result<HistoryAnswer> answer = trend_of(store, "j");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->found);
  const List& alerts = list_at(answer->object, "alerts");
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_NEAR(static_cast<double>(std::get<std::int64_t>(at(alerts[0], "index").data)), 30, 1);
  EXPECT_EQ(list_at(alerts[0], "changes").size(), 9U);
  EXPECT_EQ(text_in(list_at(alerts[0], "changes")[0], "verdict"), "slower");
}

// Benchmarks take turns, so that each sees the change in a record of its own.
TEST(Trend, BenchmarksThatTakeTurnsShareAnAlert) {
  Records store;
  const Values walls = noisy(4, 80);
  for (std::size_t i = 0; i < 80; ++i) {
    const double factor = i < 41 ? 1 : 1.1;
    store.of_job["j"].push_back(
        record_of_walls({factor * walls[i]}, "north", fmt::format("./p{}", i % 4)));
  }
  const Result<HistoryAnswer> answer = trend_of(store, "j");
  ASSERT_TRUE(answer);
  ASSERT_EQ(list_at(answer->object, "alerts").size(), 1U);
  EXPECT_EQ(list_at(list_at(answer->object, "alerts")[0], "changes").size(), 4U);
}

TEST(Trend, MachinesThatTakeTurnsAreNoChange) {
  Records store;
  const Values north = noisy(5, 40), south = noisy(6, 40, 2);
  for (std::size_t i = 0; i < 40; ++i) {
    const bool is_north = (i / 10) % 2 == 0;
    store.of_job["j"].push_back(
        record_of_walls({is_north ? north[i] : south[i]}, is_north ? "north" : "south"));
  }
  const Result<HistoryAnswer> answer = trend_of(store, "j");
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->found);
  EXPECT_TRUE(list_at(answer->object, "alerts").empty());
}

TEST(Trend, TwoChangesAreTwoAlerts) {
  Records store;
  const Values walls = noisy(7, 60);
  for (std::size_t i = 0; i < 60; ++i) {
    const double factor = i < 20 ? 1 : i < 40 ? 1.1 : 1.3;
    store.of_job["j"].push_back(record_of_walls({factor * walls[i]}));
  }
  const Result<HistoryAnswer> answer = trend_of(store, "j");
  ASSERT_TRUE(answer);
  EXPECT_EQ(list_at(answer->object, "alerts").size(), 2U);
}

TEST(Trend, NothingIsAnErrorAndLittleIsSaid) {
  Records store;
  store.of_job["empty"] = {};
  store.of_job["few"] = {record_of_walls({1})};
  store.of_job["damaged"] = {"{", record_of_walls({1})};
  EXPECT_FALSE(trend_of(store, "empty"));
  const Result<HistoryAnswer> few = trend_of(store, "few");
  ASSERT_TRUE(few);
  EXPECT_FALSE(few->found);
  ASSERT_EQ(few->notes.size(), 1U);
  EXPECT_NE(few->notes[0].find("1 of 8"), std::string::npos);
  EXPECT_EQ(trend_of(store, "damaged")->notes.size(), 2U);
}

TEST(AnswerText, AsJsonAndAsTable) {
  Records store;
  store.of_job["a"] = {record_of_walls({1, 1.1, 1.2, 1.3})};
  const Result<HistoryAnswer> answer = compare_jobs(store, "a", "a");
  ASSERT_TRUE(answer);
  const json parsed = json::parse(answer_text(*answer, render::Format::kJson, {}));
  EXPECT_EQ(parsed["comparison"][0]["metric"], "wall");
  EXPECT_EQ(parsed["comparison"][0]["ratio"], 1);
  EXPECT_NE(answer_text(*answer, render::Format::kTable, {}).find("verdict"), std::string::npos);
}

}  // namespace
}  // namespace fathom::fleet
