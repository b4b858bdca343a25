// SPDX-License-Identifier: MIT
// A suite against an executor that does what the test says.
#include "fleet/suite/suite_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"

namespace fathom::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

// Ends each work when it is first asked for, as `fate` says.
class Stage : public Executor {
 public:
  std::function<WorkState(const Work&)> fate = [](const Work&) { return ended(0); };
  std::vector<Work> submitted;
  std::vector<Words> after;
  std::vector<std::string> cancelled, fetched;
  std::vector<std::pair<std::string, std::string>> exchanged;
  bool orders = false;
  int silent = 0;  // questions that nobody answers
  bool broken = false;

  static WorkState ended(int exit) {
    WorkState state;
    state.phase = WorkPhase::kEnded;
    state.outcome = WorkOutcome{.exit = exit, .wall = 1.5, .host = "h"};
    state.host = "h";
    return state;
  }
  static WorkState lost(const std::string& host) { return {WorkPhase::kLost, {}, host, "gone"}; }
  static WorkState running() { return {WorkPhase::kRunning, {}, "h", ""}; }

  Status submit(const std::vector<Work>& works, const Words& waits_for) override {
    if (broken) return Error{Code::kUnavailable, "no queue", ""};
    for (const Work& work : works) {
      submitted.push_back(work);
      after.push_back(waits_for);
    }
    return {};
  }
  [[nodiscard]] bool orders_work() const override { return orders; }
  void replaced(const std::string& one, const std::string& other) override {
    exchanged.emplace_back(one, other);
  }
  Result<std::map<std::string, WorkState>> states() override {
    if (silent > 0) {
      --silent;
      return Error{Code::kUnavailable, "nobody answers", ""};
    }
    std::map<std::string, WorkState> states;
    for (const Work& work : submitted) states[work.id] = fate(work);
    return states;
  }
  Status cancel(const std::string& id) override {
    cancelled.push_back(id);
    return {};
  }
  Result<std::string> log(const std::string&) override { return std::string(); }
  Status fetch(const std::string& id) override {
    fetched.push_back(id);
    return {};
  }
};

const SuitePlan kPlan = {"run", "/places", "/bin/fathom", ""};

SuiteHooks patient() {
  return {[](int) { return false; }, [](const SuiteResult&, std::size_t) {}};
}

SuiteSpec spec_of(const std::string& text) {
  Result<SuiteSpec> spec = parse_suite(text, "s");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  return *spec;
}

TEST(Suite, AllWorksAreDoneOnceAndCounted) {
  Stage stage;
  stage.fate = [](const Work& work) { return Stage::ended(work.command[1] == "2" ? 7 : 0); };
  const SuiteSpec spec =
      spec_of("matrix: {n: [1, 2, 3]}\nbenchmarks: [{name: b, command: [p, '{n}']}]");
  const Result<SuiteResult> result = run_suite(spec, stage, kPlan, patient());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ended(), 3U);
  EXPECT_EQ(result->failed(), 1U);
  EXPECT_EQ(result->lost(), 0U);
  EXPECT_EQ(result->redone(), 0U);
  EXPECT_THAT(stage.fetched, ElementsAre("run.0.1", "run.1.1", "run.2.1"));
  EXPECT_EQ(stage.submitted[2].place, "/places/2/1");
  EXPECT_EQ(stage.submitted[2].environment.at("FATHOM_WORK_ID"), "run.2");
}

TEST(Suite, WhatIsLostIsDoneAgainOnceElsewhere) {
  Stage stage;
  stage.fate = [](const Work& work) {
    return work.id == "run.1.1" ? Stage::lost("n1") : Stage::ended(0);
  };
  const SuiteSpec spec = spec_of("benchmarks: [{command: [p], repetitions: 3}]");
  const Result<SuiteResult> result = run_suite(spec, stage, kPlan, patient());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ended(), 3U);
  EXPECT_EQ(result->redone(), 1U);
  ASSERT_EQ(stage.submitted.size(), 4U);
  const Work& again = stage.submitted[3];
  EXPECT_EQ(again.id, "run.1.2");
  EXPECT_THAT(again.avoid, ElementsAre("n1"));
  EXPECT_EQ(again.place, "/places/1/2");
  // Under the same name, so that a server that got both counts one.
  EXPECT_EQ(again.environment.at("FATHOM_WORK_ID"), "run.1");
  EXPECT_THAT(stage.cancelled, ElementsAre("run.1.1"));
  EXPECT_THAT(stage.exchanged, ElementsAre(std::pair("run.1.1", "run.1.2")));
  EXPECT_THAT(result->items[1].lost, ElementsAre("gone"));
}

TEST(Suite, WhatIsLostTwiceIsGivenUp) {
  Stage stage;
  stage.fate = [](const Work&) { return Stage::lost("n1"); };
  const SuiteSpec spec = spec_of("benchmarks: [{command: [p]}]");
  const Result<SuiteResult> result = run_suite(spec, stage, kPlan, patient());
  ASSERT_TRUE(result);
  EXPECT_EQ(stage.submitted.size(), 2U);
  EXPECT_EQ(result->lost(), 1U);
  EXPECT_EQ(result->items[0].lost.size(), 2U);
}

// The first attempt comes back while the second one runs.
TEST(Suite, ALateResultOfALostAttemptDoesNotCount) {
  Stage stage;
  int asked = 0;
  stage.fate = [&](const Work& work) {
    if (work.id == "run.0.1") return ++asked == 1 ? Stage::lost("n1") : Stage::ended(9);
    return asked < 4 ? Stage::running() : Stage::ended(0);
  };
  const SuiteSpec spec = spec_of("benchmarks: [{command: [p]}]");
  const Result<SuiteResult> result = run_suite(spec, stage, kPlan, patient());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->items[0].outcome->exit, 0);
  EXPECT_THAT(stage.fetched, ElementsAre("run.0.2"));
}

TEST(Suite, OrderIsKeptByUsOrByTheExecutor) {
  const SuiteSpec spec = spec_of(
      "benchmarks: [{name: a, command: [a], repetitions: 2}, {name: b, command: [b], after: a}]");
  for (const bool orders : {false, true}) {
    Stage stage;
    stage.orders = orders;
    int asked = 0;
    stage.fate = [&](const Work& work) {
      if (work.command[0] == "a" && ++asked < 5) {
        EXPECT_EQ(stage.submitted.size(), orders ? 3U : 2U);
        return Stage::running();
      }
      return Stage::ended(0);
    };
    const Result<SuiteResult> result = run_suite(spec, stage, kPlan, patient());
    ASSERT_TRUE(result);
    EXPECT_EQ(result->ended(), 3U);
    EXPECT_THAT(stage.after[2], ElementsAre("run.0.1", "run.1.1"));
  }
}

TEST(Suite, WhoIsToldToEndCancelsAll) {
  Stage stage;
  stage.fate = [](const Work& work) {
    return work.id == "run.0.1" ? Stage::ended(0) : Stage::running();
  };
  SuiteHooks hooks = patient();
  hooks.wait = [](int) { return true; };
  const SuiteSpec spec = spec_of("benchmarks: [{command: [p], repetitions: 3}]");
  const Result<SuiteResult> result = run_suite(spec, stage, kPlan, hooks);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->cancelled);
  EXPECT_EQ(result->ended(), 1U);
  EXPECT_THAT(stage.cancelled, ElementsAre("run.1.1", "run.2.1"));
}

TEST(Suite, AnExecutorMayBeSilentForAWhile) {
  Stage stage;
  stage.silent = 3;
  const SuiteSpec spec = spec_of("benchmarks: [{command: [p]}]");
  EXPECT_TRUE(run_suite(spec, stage, kPlan, patient()));
  stage.broken = true;
  EXPECT_FALSE(run_suite(spec, stage, kPlan, patient()));
}

TEST(Suite, WhatWasSubmittedIsCancelledWhereTheRestCannotBe) {
  Stage stage;
  stage.fate = [&](const Work& work) {
    stage.broken = true;
    return work.id == "run.0.1" ? Stage::lost("n1") : Stage::running();
  };
  const SuiteSpec spec = spec_of("benchmarks: [{command: [p], repetitions: 2}]");
  EXPECT_FALSE(run_suite(spec, stage, kPlan, patient()));
  EXPECT_THAT(stage.cancelled, ::testing::Contains("run.1.1"));
}

TEST(Suite, AgentsMeasureForAJob) {
  Stage stage;
  const SuiteSpec spec = spec_of(
      "job: nightly\nbenchmarks:\n- {name: a, command: [p, x], repetitions: 5}\n"
      "- {name: b, command: [q], measure: profile}\n");
  SuitePlan plan = kPlan;
  plan.server = "http://s";
  ASSERT_TRUE(run_suite(spec, stage, plan, patient()));
  EXPECT_EQ(stage.submitted[0].command, (Words{"/bin/fathom", "agent", "bench", "--job", "nightly",
                                               "--server", "http://s", "-r", "5", "--", "p", "x"}));
  EXPECT_EQ(stage.submitted[1].command[2], "profile");
}

TEST(Suite, AnImageIsProfiledInItsPlace) {
  Stage stage;
  const std::string images = "benchmarks: [{name: i, image: 'app:{n}', matrix: {n: ['1', '2']}}]";
  SuitePlan plan = kPlan;
  plan.folder = ::testing::TempDir() + "images";
  ASSERT_TRUE(remove_tree(plan.folder));
  const SuiteSpec spec = spec_of(images);
  const Result<SuiteResult> result = run_suite(spec, stage, plan, patient());
  ASSERT_TRUE(result);
  EXPECT_EQ(stage.submitted[1].command, (Words{"/bin/fathom", "container", "run", "-q", "-o",
                                               plan.folder + "/1/1/profile", "--", "app:2"}));
  EXPECT_EQ(item_name(spec, result->items[1].item), "i n=2");
  EXPECT_EQ(profile_folder(plan, *result, 1), "");
  ASSERT_TRUE(make_dirs(plan.folder + "/1/1/files/profile"));
  EXPECT_EQ(profile_folder(plan, *result, 1), plan.folder + "/1/1/files/profile");
  // Files come back from where a build server worked.
  Stage server;
  const SuiteSpec by_jenkins = spec_of(images + "\nexecutor: jenkins\njenkins: {url: http://x}");
  ASSERT_TRUE(run_suite(by_jenkins, server, plan, patient()));
  EXPECT_EQ(server.submitted[0].command[5], "profile");
}

TEST(Suite, OneMergedResult) {
  Stage stage;
  stage.fate = [](const Work& work) {
    return work.id == "run.0.1" ? Stage::lost("n1") : Stage::ended(work.id == "run.1.1" ? 4 : 0);
  };
  const SuiteSpec spec =
      spec_of("matrix: {n: [1, 2]}\nbenchmarks: [{name: b, command: ['{n}'], repetitions: 2}]");
  const Result<SuiteResult> result = run_suite(spec, stage, kPlan, patient());
  ASSERT_TRUE(result);
  const Table table = suite_table(spec, *result);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][1].data), "n=1");
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][2].data), 2);
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][3].data), 1);
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][5].data), 1);
  EXPECT_EQ(std::get<double>(table.rows[1][6].data), 1.5e9);
  const Value value = suite_object(spec, *result);
  const auto& object = std::get<Object>(value.data);
  EXPECT_EQ(object[1].first, "runs");
  EXPECT_EQ(std::get<std::int64_t>(object[1].second.data), 4);
}

}  // namespace
}  // namespace fathom::fleet
