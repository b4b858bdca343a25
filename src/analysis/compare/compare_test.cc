// SPDX-License-Identifier: MIT
#include "analysis/compare/compare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/compare/portable_paths.h"
#include "analysis/compare/repetitions.h"
#include "analysis/compare/testing/text_store.h"

namespace fathom::analysis {
namespace {

using analysis::testing::lines_of;
using analysis::testing::TextStores;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A program whose numbers a reader can add up. Times in us. The region `step` (app) is the first
// thing; its reads follow each other inside it.
struct Work {
  std::string cwd = "/one";
  std::string command = "work";
  std::int64_t wall = 1000;
  std::int64_t step = 500;
  std::int64_t reads = 10;
  std::int64_t read_time = 10;
  std::int64_t start_s = 1000;
  std::string more = {};
};

std::string text_of(const Work& work) {
  std::string text = fmt::format(
      "run command={} cwd={} host=here start={}000000000 duration={}000 exit=0\n"
      "process 10 name=work start=0 end={}000\nthread 10/10 start=0 end={}000\n"
      "event 10/10 0 +{}000 app step category=work\n",
      work.command, work.cwd, work.start_s, work.wall, work.wall, work.wall, work.step);
  for (std::int64_t i = 0; i < work.reads; ++i) {
    text +=
        fmt::format("event 10/10 {}000 +{}000 posix pread category=read file={}/in.dat bytes=100\n",
                    i * work.read_time, work.read_time, work.cwd);
  }
  return text + work.more;
}

// More and longer reads, fsync in place of open; everything else as before.
const Work kBefore = {.more =
                          "event 10/10 600000 +20000 posix open file=/etc/conf\n"
                          "counter 10 0 resource rss 1000 unit=bytes\n"
                          "counter 10 1 resource rss 3000 unit=bytes\n"
                          "counter 10 1 resource cpu_user 0.5 unit=s\n"
                          "counter 10 1 resource cpu_system 0.25 unit=s\n"};
const Work kAfter = {.cwd = "/two",
                     .wall = 2000,
                     .step = 1500,
                     .reads = 100,
                     .read_time = 11,
                     .more =
                         "event 10/10 1600000 +100000 posix fsync file=/two/in.dat\n"
                         "counter 10 0 resource rss 6000 unit=bytes\n"
                         "counter 10 1 resource cpu_user 0.5 unit=s\n"
                         "counter 10 1 resource cpu_system 0.5 unit=s\n"};

class CompareTest : public TextStores {
 protected:
  RunSums read(const Work& work) {
    const std::string path = record(text_of(work));
    Store store = open(path);
    Result<RunSums> sums = read_run(store, path);
    EXPECT_TRUE(sums) << sums.error().message;
    return std::move(sums).value();
  }
  Comparison compared(const std::vector<Work>& before, const std::vector<Work>& after) {
    std::vector<RunSums> old_runs, new_runs;
    for (const Work& work : before) old_runs.push_back(read(work));
    for (const Work& work : after) new_runs.push_back(read(work));
    return compare(old_runs, new_runs);
  }
  static std::string table(const Comparison& comparison, std::string_view title,
                           const CompareOptions& options = {}) {
    for (const Section& section : compare_report(comparison, options).sections) {
      if (section.table.title == title) return lines_of(section.table);
    }
    ADD_FAILURE() << "no table " << title;
    return "";
  }
  static std::string words(const Comparison& comparison, const CompareOptions& options = {}) {
    return join(compare_words(comparison, options), "\n");
  }
};

TEST_F(CompareTest, OneRunEach) {
  const Comparison comparison = compared({kBefore}, {kAfter});
  EXPECT_EQ(table(comparison, "Run: time"),
            "figure|before|after|change|percent\n"
            "wall time|1000000|2000000|1000000|100\n"
            "thread time|1000000|2000000|1000000|100\n"
            "CPU time|750000000|1000000000|250000000|33.33");
  EXPECT_EQ(table(comparison, "Run: memory and bytes"),
            "figure|before|after|change|percent\n"
            "peak memory|3000|6000|3000|100\n"
            "bytes read|1000|10000|9000|900");
  EXPECT_EQ(table(comparison, "By layer"),
            "layer|before|after|change|percent|explains|calls_old|calls_new|note\n"
            "posix|120000|1200000|1080000|900|108|11|101|\n"
            "(elsewhere)|480000|400000|-80000|-16.67|-8|-|-|\n"
            "app|400000|400000|0|0|0|1|1|");
  EXPECT_EQ(table(comparison, "By function"),
            "name|layer|before|after|change|percent|explains|calls_old|calls_new|note\n"
            "pread|posix|100000|1100000|1000000|1000|100|10|100|\n"
            "fsync|posix|0|100000|100000|-|10|0|1|new\n"
            "(elsewhere)||480000|400000|-80000|-16.67|-8|-|-|\n"
            "open|posix|20000|0|-20000|-100|-2|1|0|gone\n"
            "step|app|400000|400000|0|0|0|1|1|");
  EXPECT_EQ(table(comparison, "By file"),
            "file|before|after|change|percent|explains|calls_old|calls_new|note\n"
            "./in.dat|100000|1200000|1100000|1100|110|10|101|\n"
            "/etc/conf|20000|0|-20000|-100|-2|1|0|gone");
  EXPECT_EQ(table(comparison, "Counters: bytes"),
            "counter|layer|statistic|before|after|change|percent|note\n"
            "rss|resource|mean|2000|6000|4000|200|\n"
            "rss|resource|max|3000|6000|3000|100|");
}

TEST_F(CompareTest, SumsOfExplainedAreTheWholeChange) {
  const Comparison comparison = compared({kBefore}, {kAfter});
  for (const char* by : {"layer", "name", "category", "pid"}) {
    double sum = 0;
    for (const Difference& line : comparison.lines(by)) sum += line.explains.value_or(0);
    EXPECT_NEAR(sum, 100, 1e-9) << by;
  }
}

TEST_F(CompareTest, WordsOfOneRunEach) {
  const std::string text = words(compared({kBefore}, {kAfter}));
  EXPECT_THAT(text, HasSubstr("Wall time grew from 1.00 ms to 2.00 ms (+100.0 %)."));
  EXPECT_THAT(text, HasSubstr("pread (posix) explains 100 % of the change in the threads' time "
                              "(+1.00 ms): 100 us of self time became 1.10 ms, 10 calls became "
                              "100."));
  EXPECT_THAT(text, HasSubstr("The file that explains most is ./in.dat: more than all."));
  EXPECT_THAT(text, HasSubstr("New functions: fsync. Gone: open."));
  EXPECT_THAT(text, HasSubstr("peak memory +100.0 %"));
  EXPECT_THAT(text, HasSubstr("Each side has a single run, so the change may be noise."));
  EXPECT_THAT(text, Not(HasSubstr("Warning")));
}

TEST_F(CompareTest, RepetitionsAreTested) {
  std::vector<Work> before, after;
  for (const std::int64_t jitter : {0, 3, -3, 5, -5}) {
    Work slow = kAfter, quick = kBefore;
    quick.wall += jitter;
    slow.wall += jitter;
    before.push_back(quick);
    after.push_back(slow);
  }
  const Comparison comparison = compared(before, after);
  EXPECT_TRUE(comparison.tested());
  EXPECT_TRUE(comparison.wall.significant());
  EXPECT_NEAR(*comparison.wall.p, 2.0 / 252, 1e-12);
  EXPECT_NEAR(*comparison.wall.low(), 1'000'000, 20'000);
  EXPECT_TRUE(wall_changed(comparison, {}));
  EXPECT_FALSE(wall_changed(comparison, {.by = {}, .threshold = 200.0}));
  EXPECT_THAT(words(comparison), HasSubstr("the medians of 5 and 5 runs"));
  EXPECT_THAT(words(comparison), HasSubstr(": significant."));
  EXPECT_THAT(words(comparison), Not(HasSubstr("One run each")));
  EXPECT_THAT(table(comparison, "By layer"), HasSubstr("|percent|low|high|p|explains|"));
  EXPECT_THAT(table(comparison, "By layer"),
              HasSubstr("posix|120000|1200000|1080000|900|1080000|1080000|0.0238|108|11|101|"));
  // What adds up to the whole change is the change of means.
  double explained = 0;
  for (const Difference& line : comparison.lines("layer")) explained += *line.explains;
  EXPECT_NEAR(explained, 100, 1e-9);
}

TEST_F(CompareTest, NoiseIsNoChange) {
  std::vector<Work> before, after;
  for (const std::int64_t jitter : {0, 80, -80, 40, -40}) {
    Work one = kBefore, other = kBefore;
    one.wall += jitter;
    other.wall += 60 + jitter;
    before.push_back(one);
    after.push_back(other);
  }
  const Comparison comparison = compared(before, after);
  EXPECT_FALSE(wall_changed(comparison, {}));
  EXPECT_THAT(words(comparison), HasSubstr(": not significant."));
  EXPECT_THAT(words(comparison), Not(HasSubstr("explain")));
  for (const Difference& line : comparison.lines("name")) EXPECT_FALSE(line.explains);
  // With one run each the same change is above the threshold.
  EXPECT_TRUE(wall_changed(compared({before[0]}, {after[0]}), {}));
}

TEST_F(CompareTest, ThresholdOfOneRunEach) {
  Work slower = kBefore;
  slower.wall = 1040;
  const Comparison comparison = compared({kBefore}, {slower});
  EXPECT_FALSE(wall_changed(comparison, {}));
  EXPECT_TRUE(wall_changed(comparison, {.by = {}, .threshold = 3.0}));
  EXPECT_THAT(words(comparison), HasSubstr("which is below the threshold"));
  EXPECT_THAT(words(comparison), Not(HasSubstr("outside recorded calls")));
}

TEST_F(CompareTest, WhatCannotBeToldIsSaid) {
  Work slower = kBefore;
  slower.wall = 2000;
  EXPECT_THAT(words(compared({kBefore}, {slower})),
              HasSubstr("100 % of the change in the threads' time (+1.00 ms) was outside recorded "
                        "calls (480 us became 1.48 ms): the recordings cannot tell"));
  const CompareOptions sampled{.by = {}, .sampled = true, .threshold = {}};
  EXPECT_THAT(join(compare_words(compared({kBefore}, {slower}), sampled), "\n"),
              HasSubstr("calls (480 us became 1.48 ms).\n"));
  Work later = kBefore;  // another thread ends before
  later.wall = 2000;
  Work fewer = later;
  later.more += "thread 10/11 start=0 end=2000000\n";
  later.wall = 1000;
  const std::string text = words(compared({later}, {fewer}));
  EXPECT_THAT(text, HasSubstr("Wall time grew from 1.00 ms to 2.00 ms"));
  EXPECT_THAT(text, HasSubstr("The recorded calls do not explain it: the threads' time went from "
                              "3.00 ms to 2.00 ms."));
}

TEST_F(CompareTest, SameRunExplainsNothing) {
  const Comparison comparison = compared({kBefore}, {kBefore});
  EXPECT_FALSE(wall_changed(comparison, {}));
  EXPECT_THAT(words(comparison), HasSubstr("Wall time is the same: 1.00 ms."));
  for (const Difference& line : comparison.lines("name")) EXPECT_FALSE(line.explains);
}

TEST_F(CompareTest, RowsCanBeLeftOut) {
  const Comparison comparison = compared({kBefore}, {kAfter});
  EXPECT_EQ(table(comparison, "By function", {.by = {"name"}, .top = 1, .threshold = {}}),
            "name|layer|before|after|change|percent|explains|calls_old|calls_new|note\n"
            "pread|posix|100000|1100000|1000000|1000|100|10|100|");
  const std::string large = table(comparison, "By function",
                                  {.by = {"name"}, .top = 0, .min_percent = 20, .threshold = {}});
  EXPECT_THAT(large, Not(HasSubstr("elsewhere")));
  EXPECT_THAT(large, HasSubstr("fsync"));
  EXPECT_THAT(large, HasSubstr("open"));
}

TEST_F(CompareTest, ProcessesAreMatchedByProgramAndNumber) {
  Work before = kBefore, after = kBefore;
  before.more = "process 11 name=helper start=5 end=9\nevent 11/11 10 +5 posix read\n";
  after.more = "process 77 name=helper start=5 end=9\nevent 77/77 10 +9 posix read\n";
  EXPECT_THAT(table(compared({before}, {after}), "By process", {.by = {"pid"}, .threshold = {}}),
              HasSubstr("helper|1|5|9|4|80|"));
}

// What was only counted has a place in the tables, but its time may be part of other rows' time.
TEST_F(CompareTest, CountedCallsExplainNothing) {
  Work before = kBefore, after = kAfter;
  before.more += "interval 10/10 0 +1000 syscall pread64 calls=10 dur=100\n";
  after.more += "interval 10/10 0 +1000 syscall pread64 calls=20 dur=300\n";
  EXPECT_THAT(table(compared({before}, {after}), "By layer"),
              HasSubstr("syscall|100|300|200|200|-|10|20|"));
}

TEST_F(CompareTest, UnlikeRecordingsAreWarnedOf) {
  Work after = kAfter;
  after.command = "other";
  after.more += "layer stdio on\nloss posix full 7\n";
  const std::string text = words(compared({kBefore}, {after}));
  EXPECT_THAT(text, HasSubstr("not every recording of 'before' has layer stdio"));
  EXPECT_THAT(text, HasSubstr("events were lost, so the sums are too small: "));
  EXPECT_THAT(text, HasSubstr("Before: work (1 run). After: other (1 run)."));
}

TEST_F(CompareTest, ATroubleIsToldOnce) {
  Work partial = kAfter;
  partial.more += "loss posix full 7\n";
  const std::string text = words(compared({kBefore}, {partial, partial, partial}));
  EXPECT_THAT(text, HasSubstr("/2 and 2 more (7)."));
  EXPECT_THAT(text, HasSubstr("A side has fewer than 4 runs, so the change may be noise"));
}

TEST_F(CompareTest, UnknownGroupingIsAUsageError) {
  const Status status = check_options({.by = {"moon"}, .threshold = {}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kUsage);
}

TEST_F(CompareTest, DirectoryOfRecordingsThatFollowEachOther) {
  std::filesystem::create_directories(root_ + "/set");
  for (const int i : {3, 1, 2}) {
    Work work;
    work.start_s = 1000 + i;
    record(text_of(work), fmt::format("set/{}.fathom", 9 - i));
  }
  const std::string set = root_ + "/set";
  EXPECT_THAT(runs_in(set), ElementsAre(set + "/8.fathom", set + "/7.fathom", set + "/6.fathom"));
  EXPECT_THAT(runs_in(root_), ElementsAre(set + "/8.fathom", set + "/7.fathom", set + "/6.fathom"));
  EXPECT_THAT(runs_in(set + "/8.fathom"), ElementsAre(set + "/8.fathom"));
  EXPECT_THAT(runs_in("/nowhere"), ElementsAre("/nowhere"));
}

TEST_F(CompareTest, AReportShowsTheRepetitionInTheMiddle) {
  std::filesystem::create_directories(root_ + "/set");
  for (const int i : {1, 2, 3}) {
    Work work;
    work.start_s = 1000 + i;
    work.wall = i == 1 ? 3000 : 1000 * (i - 1);
    if (i == 1) work.more = "loss posix full 3\n";
    record(text_of(work), fmt::format("set/{}", i));
  }
  const auto found = repetitions_in(root_ + "/set");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shown, root_ + "/set/3");
  EXPECT_EQ(found->words,
            "3 repetitions of work: 2.00 ms wall time on average, 1.00 ms to 3.00 ms; this is " +
                root_ + "/set/3, the one in the middle. Something was lost in 1 of 3.");
  EXPECT_FALSE(repetitions_in(root_ + "/set/1"));
}

TEST_F(CompareTest, StepsOfSeveralProgramsAreOneRun) {
  std::filesystem::create_directories(root_ + "/flow");
  record(text_of({.command = "/bin/first", .start_s = 1000}), "flow/1");
  record(text_of({.command = "/opt/first", .start_s = 1001}), "flow/2");
  EXPECT_EQ(runs_in(root_ + "/flow").size(), 2U);
  record(text_of({.command = "second", .start_s = 1002}), "flow/3");
  EXPECT_THAT(runs_in(root_ + "/flow"), ElementsAre(root_ + "/flow"));
}

TEST_F(CompareTest, DirectoryOfRecordingsThatOverlapIsOneRun) {
  std::filesystem::create_directories(root_ + "/ranks");
  record(text_of({}), "ranks/0");
  record(text_of({}), "ranks/1");
  EXPECT_THAT(runs_in(root_ + "/ranks"), ElementsAre(root_ + "/ranks"));
}

TEST(PortablePaths, RootsLessWhatAllEndWith) {
  const std::vector<std::string> checkouts = {"/a/x/build", "/b/build"};
  EXPECT_THAT(roots_of(checkouts), ElementsAre("/a/x", "/b"));
  const std::vector<std::string> same = {"/a/build", "/a/build"};
  EXPECT_THAT(roots_of(same), ElementsAre("/a/build", "/a/build"));
  const std::vector<std::string> odd = {"", "build", "/build"};
  EXPECT_THAT(roots_of(odd), ElementsAre("", "build", "/build"));
}

TEST(PortablePaths, RelativeToRootOrRecording) {
  struct Case {
    const char *path, *want;
  };
  for (const Case& c : {Case{"/a/x", "./x"}, Case{"/a", "/a"}, Case{"/ab/x", "/ab/x"},
                        Case{"/a/t.fathom/y", "<recording>/y"}, Case{"/etc/x", "/etc/x"}}) {
    EXPECT_EQ(portable_path(c.path, "/a", "/a/t.fathom"), c.want);
  }
  EXPECT_EQ(portable_path("/x", "/", ""), "/x");
  EXPECT_EQ(common_directory("/a/b/c", "/a/b/d"), "/a/b");
  EXPECT_EQ(common_directory("/a", "/b"), "");
  EXPECT_EQ(common_directory("a", "/b"), "");
}

}  // namespace
}  // namespace fathom::analysis
