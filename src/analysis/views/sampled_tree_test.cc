// SPDX-License-Identifier: MIT
// Views of samples, on recordings that are written as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "analysis/compare/testing/text_store.h"
#include "analysis/filtered_views.h"
#include "analysis/report.h"
#include "base/host.h"

namespace fathom::analysis {
namespace {

using ::testing::HasSubstr;

constexpr char kTwoThreads[] =
    "run host=alpha duration=1000\n"
    "process 7 name=work start=0 end=1000\n"
    "thread 7/7 start=0 end=1000\nthread 7/8 start=0 end=1000\n"
    "event 7/7 0 +500 app step\n"
    "sample 7/7 1 cpu-clock weight=10 stack=main!work@w.c:1;left!work@w.c:2\n"
    "sample 7/7 2 cpu-clock weight=30 stack=main!work@w.c:9;right!work@w.c:3\n"
    "sample 7/8 3 cpu-clock weight=60 stack=main!work@w.c:1;left!work@w.c:4;left!work@w.c:5\n"
    "sample 7/8 4 off-cpu weight=1000 stack=main!work;futex!libc.so.6\n";

class SampledTrees : public testing::TextStores {
 protected:
  std::string shown(const std::string& lines, const ViewOptions& options = {},
                    const std::vector<std::string>& layers = {"cpu"}, std::size_t section = 0) {
    Store store = open(record(lines));
    RowFilter filter;
    filter.layers = layers;
    const Result<const ViewDef*> view = choose_view("tree", options);
    Result<Report> report = report_part(store, **view, options, filter);
    EXPECT_TRUE(report) << report.error().message;
    return testing::lines_of(report->sections.at(section).table);
  }
};

TEST_F(SampledTrees, CallersHoldWhatTheyCall) {
  EXPECT_EQ(shown(kTwoThreads),
            "depth|call|module|samples|total|share|self\n"
            "0|main|work|3|100|100|0\n"
            "1|left|work|2|70|70|10\n"
            "2|left|work|1|60|60|60\n"
            "1|right|work|1|30|30|30");
}

TEST_F(SampledTrees, WithoutCallsItIsSaidWhereTheSamplesAre) {
  Store store = open(
      record("run host=alpha duration=1000\nprocess 7 name=work start=0 end=1000\n"
             "thread 7/7 start=0 end=1000\nsample 7/7 1 cpu-clock weight=10 stack=main!work\n"));
  const auto note = [&](const char* view) {
    const Result<Report> report = report_part(store, **choose_view(view, {}), {}, {});
    return report ? report->sections.at(0).table.note : report.error().message;
  };
  EXPECT_EQ(note("functions"), "no call was recorded; view 'hot' shows the samples");
  EXPECT_EQ(note("tree"), "no call was recorded; --layers cpu shows the samples");
}

// Weights of different events are no sum.
TEST_F(SampledTrees, OneEventIsShownAndTheOthersAreNamed) {
  const std::string both = std::string(kTwoThreads) +
                           "sample 7/7 5 page-faults weight=5000 stack=main!work;fill!work\n"
                           "sample 7/7 6 page-faults weight=5000 stack=main!work;fill!work\n"
                           "sample 7/7 7 page-faults weight=5000 stack=main!work;fill!work\n"
                           "sample 7/7 8 page-faults weight=5000 stack=main!work;fill!work\n";
  EXPECT_EQ(shown(both), shown(kTwoThreads)) << "the clock, though it has fewer samples";
  Store store = open(record(both));
  for (const char* name : {"tree", "hot", "lines"}) {
    RowFilter filter;
    if (std::string_view(name) == "tree") filter.layers = {"cpu"};
    const Result<const ViewDef*> view = choose_view(name, {});
    const Report report = report_part(store, **view, {}, filter).value();
    EXPECT_THAT(report.sections[0].table.note,
                HasSubstr("samples of cpu-clock; there are also samples of page-faults"))
        << name;
  }
  const Result<const ViewDef*> hot = choose_view("hot", {.by = {"event"}});
  const Table all = report_part(store, **hot, {.by = {"event"}}, {}).value().sections[0].table;
  EXPECT_THAT(testing::lines_of(all), HasSubstr("page-faults|fill|work|20000|20000|4"));
  EXPECT_EQ(all.note, "");
}

TEST_F(SampledTrees, WithoutAClockTheEventWithMostSamplesIsShown) {
  EXPECT_EQ(shown("run host=alpha duration=1000\nprocess 7 name=work start=0 end=1000\n"
                  "sample 7/7 1 cycles weight=900 stack=main!work\n"
                  "sample 7/7 2 page-faults weight=1 stack=fill!work\n"
                  "sample 7/7 3 page-faults weight=1 stack=fill!work\n"),
            "depth|call|module|samples|total|share|self\n"
            "0|fill|work|2|2|100|2");
}

TEST_F(SampledTrees, TheWidestRowsHangTogether) {
  EXPECT_EQ(shown(kTwoThreads, {.by = {}, .top = 2}),
            "depth|call|module|samples|total|share|self\n"
            "0|main|work|3|100|100|0\n"
            "1|left|work|2|70|70|10");
  EXPECT_EQ(shown(kTwoThreads, {.by = {}, .depth = 1}),
            "depth|call|module|samples|total|share|self\n"
            "0|main|work|3|100|100|0");
}

TEST_F(SampledTrees, ATreeForEachThread) {
  EXPECT_EQ(shown(kTwoThreads, {.by = {"tid"}}),
            "host|pid|tid|depth|call|module|samples|total|share|self\n"
            "alpha|7|8|0|main|work|1|60|60|0\n"
            "alpha|7|8|1|left|work|1|60|60|0\n"
            "alpha|7|8|2|left|work|1|60|60|60\n"
            "alpha|7|7|0|main|work|2|40|40|0\n"
            "alpha|7|7|1|right|work|1|30|30|30\n"
            "alpha|7|7|1|left|work|1|10|10|10");
}

TEST_F(SampledTrees, PathsByTheirOwnTime) {
  EXPECT_EQ(shown(kTwoThreads, {}, {"cpu"}, 1),
            "self|share|path\n"
            "60|60|main > left > left\n"
            "30|30|main > right\n"
            "10|10|main > left");
}

TEST_F(SampledTrees, OtherLayersHaveTheirOwn) {
  EXPECT_THAT(shown(kTwoThreads, {}, {"app", "cpu"}), HasSubstr("0|step|app|1|500"));
}

TEST_F(SampledTrees, DeepStacksShowBothEnds) {
  std::string stack = "main";
  for (int i = 0; i < 10'000; ++i) stack += ";again";
  const std::string lines =
      "run host=alpha duration=1000\nsample 7/7 1 cpu-clock weight=10 stack=" + stack + ";leaf\n";
  EXPECT_THAT(shown(lines, {}, {"cpu"}, 1), HasSubstr("again > (9972 more calls) > again"));
}

TEST_F(SampledTrees, NothingIsSaid) {
  Store store = open(record("run host=alpha duration=1000\nevent 7/7 0 +5 app step\n"));
  RowFilter filter;
  filter.layers = {"cpu"};
  Result<Report> report = report_part(store, **choose_view("tree", {}), {}, filter);
  EXPECT_THAT(report->sections[0].table.note, HasSubstr("nothing was sampled"));
}

class SourceLines : public testing::TextStores {
 protected:
  std::string shown(const std::string& host, const std::string& start) {
    const std::string path = root_ + "/w.c";
    std::ofstream(path) << "int main() {\n  work(\"\x1b[31m\");\n}\n";
    Store store = open(record("run host=" + host + " start=" + start +
                              " duration=1000\nsample 7/7 1 cpu-clock weight=10 stack=main!work@" +
                              path + ":2\n"));
    Result<Report> report = make_report(**choose_view("lines", {}), store, {});
    EXPECT_TRUE(report) << report.error().message;
    const Table& table = report->sections[0].table;
    return testing::cell_text(table.rows.at(0).back()) + "|" + table.note;
  }
};

TEST_F(SourceLines, AreShownWhereTheFileIsAsItWas) {
  const std::string& here = this_host().hostname;
  EXPECT_EQ(shown(here, "9000000000000000000"), "work(\"\x1b[31m\");|");
  EXPECT_EQ(shown("elsewhere-" + here, "9000000000000000000"), "-|");
  EXPECT_THAT(shown(here, "1000000000000000000"), HasSubstr("-|1 file changed since"));
}

}  // namespace
}  // namespace fathom::analysis
