// SPDX-License-Identifier: MIT
#include "analysis/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/compare/testing/text_store.h"

namespace fathom::analysis {
namespace {

using analysis::testing::lines_of;
using analysis::testing::TextStores;
using ::testing::HasSubstr;

// 1 ms: a region of 500 us with four reads of 10, 20, 30 and 40 us inside, and a failed open.
constexpr char kRun[] = R"(run command=work host=here start=1000000000000 duration=1000000 exit=0
layer stdio on
layer heap off reason="not asked for"
loss resource full 3
process 10 name=work start=0 end=1000000
thread 10/10 start=0 end=1000000
event 10/10 0 +500000 app step
event 10/10 0 +10000 posix pread category=read file=/data/in.dat bytes=100
event 10/10 20000 +20000 posix pread category=read file=/data/in.dat bytes=100
event 10/10 50000 +30000 posix pread category=read file=/data/sub/more.dat bytes=100
event 10/10 90000 +40000 posix pread category=read file=/data/sub/more.dat bytes=100
event 10/10 600000 +1000 posix open file=/data/none error=ENOENT ret=-1
counter 10 0 resource rss 4096 unit=bytes
counter 10 500000 resource rss 8192 unit=bytes
counter 10 500000 resource cpu_user 0.002 unit=s
counter 10 500000 resource cpu_system 0.001 unit=s
counter 10 500000 app queue 7
)";

class CheckTest : public TextStores {
 protected:
  static Rule rule(const char* id, Severity severity, const char* query) {
    Rule rule;
    rule.id = id;
    rule.severity = severity;
    rule.query = query;
    return rule;
  }

  // The outcome of one budget: its lines, less the dash.
  Result<std::vector<Outcome>> check(const std::string& budget, const std::string& baseline = "") {
    std::string text = "budgets:\n";
    for (const std::string_view line : split(budget, '\n')) {
      text += (text.size() < 10 ? " - " : "   ") + std::string(line) + "\n";
    }
    const auto budgets = parse_budgets(text, "b");
    EXPECT_TRUE(budgets) << budgets.error().message;
    if (!budgets) return budgets.error();
    if (stores_.empty()) stores_.push_back(open(record(kRun)));
    std::vector<Store> others;
    if (!baseline.empty()) others.push_back(open(record(baseline)));
    const std::vector<Rule> rules = {rule("fires", Severity::kHigh, "SELECT 1"),
                                     rule("quiet", Severity::kHigh, "SELECT 1 WHERE false"),
                                     rule("small", Severity::kLow, "SELECT 1"),
                                     // A fiftieth of the run is not that grave.
                                     rule("cheap", Severity::kHigh, "SELECT 20000::BIGINT AS gain"),
                                     rule("fine", Severity::kGood, "SELECT 1")};
    const std::vector<RunReadings> runs = readings(stores_, rules, *budgets);
    const std::vector<RunReadings> before = readings(others, rules, *budgets);
    return check_budgets(*budgets, {.runs = runs, .baseline = before});
  }
  static std::vector<RunReadings> readings(std::vector<Store>& stores,
                                           const std::vector<Rule>& rules,
                                           const std::vector<Budget>& budgets) {
    std::vector<RunReadings> runs;
    for (Store& store : stores) {
      const Result<RunReadings> run = read_budgets(store, rules, budgets);
      EXPECT_TRUE(run) << run.error().message;
      if (run) runs.push_back(*run);
    }
    return runs;
  }
  std::string outcome(const std::string& budget, const std::string& baseline = "") {
    const auto outcomes = check(budget, baseline);
    EXPECT_TRUE(outcomes) << outcomes.error().message;
    const Outcome& one = outcomes->front();
    const std::string value = one.value ? std::to_string(static_cast<long>(*one.value)) : "-";
    return value + " " + std::string(verdict_name(one.verdict));
  }

  std::vector<Store> stores_;  // of the runs; none: of kRun
};

TEST_F(CheckTest, ValuesOfEveryMeasure) {
  struct Case {
    const char *budget, *want;
  };
  for (const Case& c : {
           Case{"measure: wall\nmax: 1 ms", "1000000 ok"},
           Case{"measure: wall\nmax: 999 us", "1000000 broken"},
           Case{"measure: wall\nmin: 2 ms", "1000000 broken"},
           Case{"measure: cpu\nmax: 3 ms", "3000000 ok"},
           Case{"measure: memory\nmax: 4 KiB", "8192 broken"},
           Case{"measure: self\nlayer: app\nmax: 400 us", "400000 ok"},
           Case{"measure: total\nfunction: step\nmax: 500 us", "500000 ok"},
           Case{"measure: calls\nfunction: pread\nmax: 3", "4 broken"},
           Case{"measure: calls\nmin: 6", "6 ok"},
           Case{"measure: errors\nlayer: posix\nmax: 0", "1 broken"},
           Case{"measure: bytes\ncategory: read\nmax: 400 B", "400 ok"},
           Case{"measure: calls\nfile: '*.dat'\nmax: 4", "4 ok"},
           Case{"measure: calls\nfile: 'sub/*'\nmax: 2", "2 ok"},
           Case{"measure: calls\nfile: /data/in.dat\nmax: 2", "2 ok"},
           Case{"measure: calls\nfunction: 'p*d'\nfile: more.dat\nmax: 2", "2 ok"},
           Case{"measure: mean\nfunction: pread\nmax: 25 us", "25000 ok"},
           Case{"measure: max\nfunction: pread\nmax: 39 us", "40000 broken"},
           Case{"measure: p99\nfunction: pread\nmax: 40 us", "40000 ok"},
           Case{"measure: share\nlayer: posix\nmax: 10%", "10 broken"},
           Case{"measure: calls\nlayer: stdio\nmax: 0", "0 ok"},
           Case{"measure: losses\nmax: 2", "3 broken"},
           Case{"measure: losses\nlayer: app\nmax: 0", "0 ok"},
           Case{"measure: insights", "1 broken"},
           Case{"measure: insights\nseverity: low\nmax: 3", "3 ok"},
           Case{"measure: insights\nrule: quiet", "0 ok"},
           Case{"counter: queue\nmeasure: max\nmax: 7", "7 ok"},
           Case{"counter: rss\nmeasure: mean\nmax: 6 KiB", "6144 ok"},
           Case{"counter: cpu_user\nmeasure: total\nmax: 1 ms", "2000000 broken"},
           Case{"sql: SELECT max(dur) FROM events\nmax: 1 ms", "500000 ok"},
       }) {
    EXPECT_EQ(outcome(c.budget), c.want) << c.budget;
  }
}

TEST_F(CheckTest, WhatIsNotThereIsNoPass) {
  for (const char* budget : {
           "measure: calls\nfunction: preadd\nmax: 3",
           "measure: calls\nfile: '*.tmp'\nmax: 3",
           "measure: calls\ncategory: moon\nmax: 3",
           "measure: calls\nlayer: heap\nmax: 3",
           "measure: calls\nlayer: moon\nmax: 3",
           "measure: p50\nlayer: stdio\nmax: 3 s",
           "measure: bytes\nfunction: open\nmax: 3 MiB",
           "measure: losses\nlayer: heap\nmax: 3",
           "measure: insights\nrule: unheard-of",
           "counter: rsss\nmeasure: max\nmax: 3 GiB",
           "counter: rss\nmeasure: total\nmax: 3 GiB",
           "counter: rss\nmeasure: max\nmax: 3 s",
           "counter: cpu_user\nmeasure: total\nmax: 3",
           "sql: SELECT 1 WHERE false\nmax: 3",
           "sql: SELECT NULL\nmax: 3",
           "sql: SELECT 'a'\nmax: 3",
           "sql: SELECT 1, 2\nmax: 3",
           "sql: SELECT x FROM nothing\nmax: 3",
           "sql: DROP VIEW events\nmax: 3",
       }) {
    EXPECT_EQ(outcome(budget), "- missing") << budget;
    EXPECT_EQ(outcome(std::string(budget) + "\noptional: true"), "- skipped") << budget;
  }
}

// Lost calls of a layer may break a limit that holds for the others.
TEST_F(CheckTest, WhatWasLostIsNoPass) {
  const std::string lossy = std::string(kRun) +
                            "loss posix \"no room\" 7\n"
                            "loss - \"text cut short\" 1\n"
                            "loss stdio \"left out by --filter min\" 9\n";
  stores_.push_back(open(record(lossy)));
  struct Case {
    const char *budget, *want;
  };
  for (const Case& c : {
           Case{"measure: calls\nfunction: pread\nmax: 4", "4 unknown"},
           Case{"measure: calls\nfunction: pread\nmax: 3", "4 broken"},
           Case{"measure: calls\nfunction: pread\nmin: 4", "4 ok"},
           Case{"measure: calls\nfunction: pread\nmin: 5", "4 unknown"},
           Case{"measure: calls\nlayer: posix\nmax: 9", "5 unknown"},
           Case{"measure: calls\nmax: 9", "6 unknown"},
           Case{"measure: bytes\ncategory: read\nmax: 400 B", "400 unknown"},
           Case{"measure: self\nlayer: posix\nmax: 1 s", "101000 unknown"},
           Case{"measure: mean\nfunction: pread\nmin: 1 us", "25000 unknown"},
           Case{"measure: calls\nfunction: preadd\nmax: 3\noptional: true", "- unknown"},
           Case{"measure: calls\nfunction: step\nmax: 1", "1 ok"},
           Case{"measure: calls\nlayer: stdio\nmax: 0", "0 ok"},
           Case{"measure: wall\nmax: 1 ms", "1000000 ok"},
       }) {
    EXPECT_EQ(outcome(c.budget), c.want) << c.budget;
  }
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: +50%", kRun), "4 unknown");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: -50%", kRun), "4 broken");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: -50%", lossy), "4 unknown");
  const auto one = check("measure: calls\nfunction: pread\nmax: 4");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->front().detail, "lost: 7 events of layer posix (no room)");
  EXPECT_EQ(outcome_table(*one, "lost: 7 events").note, "1 unknown; lost: 7 events");
  const std::string xml = outcome_junit(*one, "7 <events>");
  EXPECT_THAT(xml, HasSubstr("errors=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<property name=\"lost\" value=\"7 &lt;events&gt;\"/>"));
}

// Twice as long and with two of the four reads; the first lost nothing, the second posix calls.
TEST_F(CheckTest, OfRepetitionsTheMeanIsChecked) {
  stores_.push_back(open(record(kRun)));
  stores_.push_back(open(
      record("run command=work start=1000 duration=2000000\nthread 10/10 start=0 end=2000000\n"
             "loss app full 7\nloss posix full 1\n"
             "event 10/10 0 +10000 posix pread category=read file=/data/in.dat bytes=100\n"
             "event 10/10 20000 +20000 posix pread category=read file=/data/in.dat bytes=100\n")));
  EXPECT_EQ(outcome("measure: wall\nmax: 1500 us"), "1500000 ok");
  EXPECT_EQ(outcome("measure: wall\nmax: 1499 us"), "1500000 broken");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmin: 3"), "3 ok");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: 2"), "3 broken");
  EXPECT_EQ(outcome("measure: losses\nmax: 7"), "8 broken");
  const auto unsure = check("measure: calls\nfunction: pread\nmax: 3");
  ASSERT_TRUE(unsure);
  EXPECT_EQ(unsure->front().detail, "lost: in 1 of 2 repetitions: 1 event of layer posix (full)");
  const auto missing = check("measure: calls\nfunction: step\nmax: 3");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->front().detail, "in 1 of 2 repetitions: no recorded call matches");
}

// Calls that nobody saw may break a limit that holds for the others.
TEST_F(CheckTest, WhatWasNotCoveredIsNoPass) {
  const std::string blind = std::string(kRun) + "uncovered 11 /bin/still \"static binary\"\n";
  stores_.push_back(open(record(blind)));
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: 4"), "4 unknown");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: 3"), "4 broken");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmin: 4"), "4 ok");
  EXPECT_EQ(outcome("measure: wall\nmax: 1 ms"), "1000000 ok");
  const auto one = check("measure: calls\nfunction: pread\nmax: 4");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->front().detail, "not covered: /bin/still (static binary)");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: -50%", kRun), "4 broken");
  EXPECT_EQ(outcome("measure: calls\nfunction: pread\nmax: +50%", blind), "4 unknown");
}

TEST_F(CheckTest, RelativeToABaseline) {
  const std::string quick =
      "run command=work start=1000 duration=800000\nthread 10/10 start=0 end=800000\n"
      "event 10/10 0 +10 posix pread\n";
  EXPECT_EQ(outcome("measure: wall\nmax: +25%", quick), "1000000 ok");
  EXPECT_EQ(outcome("measure: wall\nmax: +24%", quick), "1000000 broken");
  EXPECT_EQ(outcome("measure: wall\nmax: +200 us", quick), "1000000 ok");
  EXPECT_EQ(outcome("measure: wall\nmin: -10%", quick), "1000000 ok");
  EXPECT_EQ(outcome("measure: calls\nfunction: step\nmax: +5%", quick), "- missing");
  const auto none = check("measure: wall\nmax: +5%");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kUsage);
}

TEST_F(CheckTest, TablesAndJunit) {
  std::vector<Outcome> outcomes;
  for (const char* budget : {"measure: wall\nmax: 1 ms", "measure: insights\nname: 'no <bad> &'",
                             "measure: calls\nfunction: x\nmax: 3",
                             "measure: calls\nfunction: x\nmax: 3\noptional: true"}) {
    auto one = check(budget);
    ASSERT_TRUE(one);
    outcomes.push_back(one->front());
  }
  EXPECT_EQ(lines_of(outcome_table(outcomes)),
            "budget|value|limit|status|detail\n"
            "wall|1.00 ms|max 1 ms|ok|\n"
            "no <bad> &|1|max 0|broken|fires\n"
            "calls of x|-|max 3|missing|no recorded call matches\n"
            "calls of x|-|max 3|skipped|no recorded call matches");
  EXPECT_EQ(outcome_table(outcomes).note, "1 ok, 1 broken, 1 missing, 1 skipped");
  EXPECT_THAT(lines_of(outcome_rows(outcomes)),
              HasSubstr("wall|2|wall|ok|1000000|ns|1000000|-|-|"));
  const std::string xml = outcome_junit(outcomes);
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(xml, HasSubstr("name=\"wall\"/>"));
  EXPECT_THAT(xml,
              HasSubstr("name=\"no &lt;bad&gt; &amp;\"><failure message=\"1, max 0: fires\"/>"));
}

}  // namespace
}  // namespace fathom::analysis
