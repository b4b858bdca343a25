// SPDX-License-Identifier: MIT
#include "analysis/compare/sampled_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/compare/testing/text_store.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SampledFunctions : public testing::TextStores {
 protected:
  // `count` samples of 10 ms in a function.
  static std::string in(const std::string& function, int count,
                        const std::string& event = "cpu-clock") {
    std::string lines;
    for (int i = 0; i < count; ++i)
      lines += "sample 7/7 1 " + event + " weight=10000000 stack=main!a/work;" + function + "\n";
    return lines;
  }
  SampledRun run(const std::string& lines) {
    Store store = open(record("run host=alpha duration=1000000\n" + lines));
    Result<SampledRun> read = read_sampled(store);
    EXPECT_TRUE(read) << read.error().message;
    return *std::move(read);
  }
  static Report compared(const std::vector<SampledRun>& before,
                         const std::vector<SampledRun>& after, const CompareOptions& options = {}) {
    Report report{.words = {"Wall time grew.", "Something else."}, .sections = {}};
    Table table;
    table.title = "of layers";
    report.sections.push_back({std::move(table), Shape::kTable, kGroupsSection});
    add_sampled(before, after, options, report);
    return report;
  }
};

TEST_F(SampledFunctions, TellWhatExplainsTheChange) {
  const SampledRun before =
      run(in("eat!a/work", 100) + in("sleep!libc.so.6", 50) + in("old!a/work", 4));
  const SampledRun after =
      run(in("eat!b/work", 300) + in("sleep!libc.so.6", 50) + in("new!b/work", 4));
  const Report report = compared({before}, {after});
  EXPECT_EQ(join(report.words, "\n"),
            "Wall time grew.\n"
            "CPU time by samples grew from 1.54 s to 3.54 s (+129.9 %); eat of work explains 100 % "
            "of it: 1.00 "
            "s became 3.00 s.\n"
            "Something else.");
  ASSERT_EQ(report.sections.size(), 2U);
  EXPECT_EQ(report.sections[0].table.title, "By sampled function");
  EXPECT_EQ(testing::lines_of(report.sections[0].table),
            "function|module|before|after|change|percent|explains|note\n"
            "eat|work|1000000000|3000000000|2000000000|200|100|\n"
            "new|work|0|40000000|40000000|-|2|new\n"
            "old|work|40000000|0|-40000000|-100|-2|gone\n"
            "sleep|libc.so.6|500000000|500000000|0|0|0|");
}

TEST_F(SampledFunctions, ChanceIsNoCause) {
  const Report report = compared({run(in("eat!work", 20))}, {run(in("eat!work", 24))});
  EXPECT_EQ(report.words[1],
            "CPU time by samples grew from 200 ms to 240 ms (+20.0 %), which may be chance: so few "
            "samples cannot tell which functions changed.");
  EXPECT_TRUE(report.sections[0].table.rows[0][6].is_null());
}

// "Hardly" is said of what is the same but for a thousandth, however few samples there are.
TEST_F(SampledFunctions, OnlyWhatIsTheSameHardlyChanged) {
  const auto words = [&](int before, int after) {
    return compared({run(in("eat!work", before))}, {run(in("eat!work", after))}).words[1];
  };
  EXPECT_THAT(words(54, 80),
              HasSubstr("grew from 540 ms to 800 ms (+48.1 %), which may be chance"));
  EXPECT_THAT(words(80, 54),
              HasSubstr("fell from 800 ms to 540 ms (-32.5 %), which may be chance"));
  EXPECT_THAT(words(1, 2), HasSubstr("(+100.0 %), which may be chance"));
  EXPECT_THAT(words(100, 300), Not(HasSubstr("chance")));
  EXPECT_THAT(words(54, 54), HasSubstr("hardly changed (540 ms and 540 ms)"));
}

TEST_F(SampledFunctions, RunsOfASideAreAveraged) {
  const Report report = compared({run(in("eat!work", 90)), run(in("eat!work", 110))},
                                 {run(in("eat!work", 390)), run(in("eat!work", 410))});
  EXPECT_THAT(report.words[1], HasSubstr("1.00 s became 4.00 s"));
}

TEST_F(SampledFunctions, AFunctionOfTwoModulesIsTwo) {
  const Report report = compared({run(in("f!one.so", 10) + in("f!two.so", 10))},
                                 {run(in("f!one.so", 200) + in("f!two.so", 10))});
  EXPECT_THAT(testing::lines_of(report.sections[0].table),
              HasSubstr("f|two.so|100000000|100000000|0"));
}

TEST_F(SampledFunctions, BothSidesNeedSamples) {
  const SampledRun sampled = run(in("eat!work", 10));
  const SampledRun waited = run(in("eat!work", 10, "off-cpu"));
  EXPECT_TRUE(is_sampled(std::vector<SampledRun>{sampled}));
  EXPECT_FALSE(is_sampled(std::vector<SampledRun>{sampled, waited}));
  EXPECT_THAT(compared({waited}, {sampled}).words.back(), HasSubstr("A has no samples"));
  EXPECT_THAT(compared({sampled}, {sampled, waited}).words.back(), HasSubstr("B has no samples"));
  EXPECT_THAT(compared({waited}, {waited}).words.back(), HasSubstr("A and B have no samples"));
  EXPECT_EQ(compared({waited}, {sampled}).sections.size(), 1U);
}

TEST_F(SampledFunctions, OnlyWhereTheyAreAskedFor) {
  const SampledRun one = run(in("eat!work", 10));
  EXPECT_EQ(compared({one}, {one}, {.by = {"layer"}, .threshold = {}}).sections.size(), 1U);
  EXPECT_EQ(compared({one}, {one}, {.by = {"function"}, .threshold = {}}).sections.size(), 2U);
  EXPECT_TRUE(check_options({.by = {"function"}, .threshold = {}}));
}

TEST_F(SampledFunctions, SmallChangesAndManyRowsAreLeftOut) {
  const SampledRun before = run(in("a!w", 10) + in("b!w", 10) + in("c!w", 10));
  const SampledRun after = run(in("a!w", 10) + in("b!w", 100) + in("c!w", 50));
  const Report few = compared({before}, {after}, {.by = {}, .top = 1, .threshold = {}});
  EXPECT_EQ(few.sections[0].table.rows.size(), 1U);
  EXPECT_THAT(few.sections[0].table.note, HasSubstr("1 of 3 functions shown"));
  const Report large = compared({before}, {after}, {.by = {}, .min_percent = 500, .threshold = {}});
  EXPECT_THAT(testing::lines_of(large.sections[0].table), Not(HasSubstr("\nc|")));
}

}  // namespace
}  // namespace fathom::analysis
