// SPDX-License-Identifier: MIT
#include "cli/stat_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/stat_options.h"
#include "render/json_writer.h"

namespace fathom::cli {
namespace {

using session::Measured;
using ::testing::HasSubstr;

perf::Count count_of(const std::string& name, std::optional<double> value) {
  perf::Count count;
  count.name = name;
  count.value = value;
  count.coverage = value ? 1 : 0;
  if (!value) {
    count.reason = "this machine has no hardware counters";
    count.fix = "another machine";
  }
  return count;
}

Measured run_of(double wall, double faults) {
  Measured run;
  run.exit = 0;
  run.wall = wall;
  run.tally = session::Tally{.minor_faults = 5};
  run.user = wall / 2;
  run.max_rss = 1 << 20;
  run.io = session::IoBytes{.read = 10, .written = 20};
  run.events = {count_of("page-faults", faults), count_of("cycles", std::nullopt)};
  run.events[0].user_only = true;
  return run;
}

StatResult result_of(std::vector<std::vector<Measured>> runs) {
  StatResult result;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    result.commands.push_back({"sh", "-c", std::string(1, static_cast<char>('a' + i))});
    result.labels.push_back(result.commands.back().back());
  }
  result.outcome.runs = std::move(runs);
  result.trials = trials_of(result.outcome.runs);
  result.comparison = analysis::compare_trials(result.trials, {});
  return result;
}

std::string json_of(const StatResult& result) {
  std::string text;
  render::JsonWriter(text).value(stat_object(result));
  return text;
}

TEST(StatText, JsonIsAsTheContractHasIt) {
  const std::string text = json_of(result_of({{run_of(1, 100)}}));
  EXPECT_THAT(text, HasSubstr(R"("command":["sh","-c","a"])"));
  EXPECT_THAT(text, HasSubstr(R"("exit":0)"));
  EXPECT_THAT(text, HasSubstr(R"("max_rss":1048576)"));
  EXPECT_THAT(text, HasSubstr(R"("page-faults":{"value":100,"unit":"","coverage":1)"));
  EXPECT_THAT(text, HasSubstr(R"("cycles":{"value":null,"unit":"","coverage":0)"));
  EXPECT_THAT(text, HasSubstr(R"("reason":"this machine has no hardware counters")"));
  EXPECT_THAT(text, HasSubstr(R"("comparison":[])"));
}

TEST(StatText, AMetricThatWasNeverMeasuredHasNoSummary) {
  const std::string text = json_of(result_of({{run_of(1, 100), run_of(2, 110)}}));
  const std::string summary = text.substr(text.find("\"summary\""));
  EXPECT_THAT(summary, HasSubstr(R"("page-faults":{"median":105)"));
  EXPECT_THAT(summary, ::testing::Not(HasSubstr("cycles")));
}

std::string cells_of(const analysis::Report& report) {
  std::string text;
  for (const std::string& words : report.words) text += words + "\n";
  for (const analysis::Section& section : report.sections) {
    text += section.table.title + "\n";
    for (const auto& row : section.table.rows) {
      for (const Value& cell : row) {
        if (const auto* words = std::get_if<std::string>(&cell.data)) text += *words + "|";
      }
      text += "\n";
    }
  }
  return text;
}

TEST(StatText, PeopleReadUnitsAndReasons) {
  const std::string text = cells_of(stat_report(result_of({{run_of(0.25, 100)}}), true));
  EXPECT_THAT(text, HasSubstr("wall|250 ms|"));
  EXPECT_THAT(text, HasSubstr("page-faults|100|user mode only|"));
  EXPECT_THAT(text, HasSubstr("cycles|not counted|this machine has no hardware counters; another"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("major_faults")));  // there were none
}

TEST(StatText, MigrationsAreNoise) {
  Measured run = run_of(1, 1);
  EXPECT_THAT(json_of(result_of({{run}})), HasSubstr(R"("migrations":null)"));
  run.events.push_back(count_of("cpu-migrations", 40));
  const StatResult result = result_of({{run, run}});
  EXPECT_THAT(json_of(result), HasSubstr(R"("migrations":40)"));
  EXPECT_THAT(cells_of(stat_report(result, true)), HasSubstr("40 times on average; --pin"));
}

TEST(StatText, UsualEventsThatAreMissingAreOneLine) {
  StatResult result = result_of({{run_of(0.25, 100)}});
  result.asked = false;
  const analysis::Report report = stat_report(result, true);
  EXPECT_THAT(cells_of(report), ::testing::Not(HasSubstr("cycles|")));
  EXPECT_THAT(report.sections.at(0).table.note,
              HasSubstr("not counted: cycles (this machine has no hardware counters"));
}

TEST(StatText, AVerdictIsASentence) {
  const std::vector<Measured> quick = {run_of(1, 1), run_of(1.01, 1), run_of(0.99, 1),
                                       run_of(1, 1)};
  const std::vector<Measured> slow = {run_of(2, 1), run_of(2.01, 1), run_of(1.99, 1), run_of(2, 1)};
  EXPECT_THAT(cells_of(stat_report(result_of({quick, slow}), true)),
              HasSubstr("b is slower than a: it takes 2.000 times as long"));
  EXPECT_THAT(cells_of(stat_report(result_of({slow, quick}), true)),
              HasSubstr("b is faster than a: it takes 0.500 times as long"));
  const std::string few = cells_of(stat_report(result_of({{quick[0]}, {slow[0]}}), true));
  EXPECT_THAT(few, HasSubstr("cannot tell"));
  EXPECT_THAT(few, HasSubstr("about 4 runs of each would be enough"));
}

TEST(StatText, ProgramsReadPlainNumbers) {
  const analysis::Report report = stat_report(result_of({{run_of(0.25, 100)}}), false);
  EXPECT_TRUE(report.words.empty());
  const Table& table = report.sections.at(0).table;
  EXPECT_EQ(table.title, "Summary");
  EXPECT_EQ(std::get<double>(table.rows.at(0).at(4).data), 0.25);
  EXPECT_TRUE(table.rows.back().at(4).is_null());  // cycles
}

TEST(StatOptions, PercentagesAndCpus) {
  EXPECT_NEAR(*parse_percent("--until", "1%"), 0.01, 1e-15);
  EXPECT_NEAR(*parse_percent("--until", "0.5 %"), 0.005, 1e-15);
  EXPECT_NEAR(*parse_percent("--until", "2"), 0.02, 1e-15);
  for (const char* const wrong : {"", "%", "x", "-1", "1%%", "nan", "inf"})
    EXPECT_FALSE(parse_percent("--until", wrong)) << wrong;
  EXPECT_EQ(*parse_cpus("0,2-4"), (std::vector<int>{0, 2, 3, 4}));
  for (const char* const wrong : {"", "a", "3-1", "-1", "0,", "9999"})
    EXPECT_FALSE(parse_cpus(wrong)) << wrong;
}

}  // namespace
}  // namespace fathom::cli
