// SPDX-License-Identifier: MIT
// Four ranks of which one is slow, in each of the ways in which a rank can be slow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/insights/scene_test.h"
#include "analysis/report.h"
#include "base/cell.h"
#include "trace/rows/batch.h"

namespace fathom::analysis {
namespace {

using namespace fathom::analysis::testing;  // NOLINT(google-build-using-namespace): its units

constexpr std::int32_t kSlow = 12;

struct Work {
  std::int64_t read = 0;    // from a file, by those that are not slow
  std::int64_t idle = 0;    // in nothing that is recorded
  double cpu = -1;          // seconds; below 0: nobody sampled it
  std::int64_t factor = 4;  // of the slow one
  bool waits = true;        // in a call that is recorded
  double machine = -1;      // percent of its processors
  bool same_cpu = false;    // the slow one used no more than the others
};

// All live as long as the run: what they have no work for they wait, reading from a pipe.
Scene race(const Work& work) {
  Scene scene;
  for (std::int32_t pid = 10; pid < 14; ++pid) {
    scene.rank(pid, pid - 10);
    const std::int64_t times = pid == kSlow ? work.factor : 1;
    if (work.read > 0) scene.calls({.dur = times * work.read, .bytes = 4096, .pid = pid});
    const std::int64_t busy = times * (work.read + work.idle);
    if (work.waits) scene.calls({.file = "", .dur = kSecond - busy, .bytes = 1, .pid = pid});
    const double factor = work.same_cpu ? 1 : static_cast<double>(times);
    if (work.cpu >= 0) scene.counter("cpu_user", pid, kSecond, factor * work.cpu);
  }
  if (work.machine >= 0) scene.counter("cpu_busy", trace::kNull32, kSecond, work.machine);
  return scene;
}

class RanksTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(path_); }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void open(const Work& work) { open(race(work)); }
  void open(const Scene& scene) {
    Result<Store> store = scene.open(path_);
    ASSERT_TRUE(store) << store.error().message;
    const Result<const ViewDef*> view = choose_view("ranks", {});
    const Result<Report> report = make_report(**view, *store, {});
    ASSERT_TRUE(report) << report.error().message;
    words_ = report->words;
    for (const auto& row : report->sections[0].table.rows) order_.push_back(int_of(row[0]));
    Result<std::vector<Rule>> rules = own_rules();
    std::erase_if(*rules, [](const Rule& rule) { return rule.id != "slow-rank"; });
    const Result<std::vector<Insight>> found = find_insights(*store, *rules);
    ASSERT_TRUE(found) << found.error().message;
    if (!found->empty()) accused_ = found->front().says;
  }
  void expect_slow(const std::string& ahead) {
    EXPECT_EQ(order_.at(0), 2);
    ASSERT_EQ(words_.size(), 1U);
    EXPECT_NE(words_[0].find("The slowest was rank 2, busy for"), std::string::npos) << words_[0];
    EXPECT_NE(words_[0].find("the others were " + ahead + " ahead of it"), std::string::npos)
        << words_[0];
    EXPECT_NE(accused_.find("The slowest was rank 2, busy for"), std::string::npos) << accused_;
  }
  void expect_even() {
    EXPECT_EQ(order_.size(), 4U);
    EXPECT_EQ(words_, std::vector<std::string>{"No rank was much slower than the others."});
    EXPECT_EQ(accused_, "");
  }

  const std::string path_ = ::testing::TempDir() + "fathom_ranks_" + std::to_string(getpid());
  std::vector<std::string> words_;
  std::vector<std::int64_t> order_;
  std::string accused_;
};

TEST_F(RanksTest, OneThatReadsMoreLeads) {
  open({.read = 200 * kMillisecond});
  expect_slow("600 ms");
}

TEST_F(RanksTest, OneThatSleepsLongerLeads) {
  open({.idle = 200 * kMillisecond, .cpu = 0.001});
  expect_slow("600 ms");
}

TEST_F(RanksTest, OneThatComputesMoreLeadsWhereNobodyIsSeenWaiting) {
  open({.cpu = 0.2, .waits = false});
  expect_slow("600 ms");
}

TEST_F(RanksTest, OneThatComputesMoreLeadsOnABusyMachine) {
  open({.idle = 200 * kMillisecond, .cpu = 0.2, .machine = 100});
  expect_slow("600 ms");
}

TEST_F(RanksTest, OneThatWaitedForAProcessorIsNotAccused) {
  open({.idle = 200 * kMillisecond, .cpu = 0.1, .factor = 2, .machine = 100, .same_cpu = true});
  expect_even();
}

TEST_F(RanksTest, OneThatSleptWhileProcessorsWereIdleIs) {
  open({.idle = 200 * kMillisecond, .cpu = 0.1, .factor = 2, .machine = 50, .same_cpu = true});
  expect_slow("200 ms");
}

TEST_F(RanksTest, OneThatSleptBesideABusyProgramIs) {
  open({.idle = 200 * kMillisecond, .cpu = 0.001, .factor = 2, .machine = 100, .same_cpu = true});
  expect_slow("200 ms");
}

// What nobody reads cannot be written.
TEST_F(RanksTest, OneWhosePipeIsFullWaitsForItsReader) {
  Scene scene;
  for (std::int32_t pid = 10; pid < 14; ++pid) {
    const bool slow = pid == kSlow;
    scene.rank(pid, pid - 10)
        .calls({.name = slow ? "read" : "write",
                .category = slow ? "read" : "write",
                .file = "",
                .dur = slow ? kMillisecond : 600 * kMillisecond,
                .bytes = 1,
                .pid = pid});
  }
  open(scene);
  expect_slow("599 ms");
}

// Where nobody waits at the end, who lives longest came last.
TEST_F(RanksTest, OneThatLivesLongerLeadsWhereNobodyIsSeenWaiting) {
  Scene scene = race({.cpu = 0.01, .waits = false, .same_cpu = true});
  for (std::int32_t pid = 10; pid < 14; ++pid)
    if (pid != kSlow) scene.short_process(pid, 400 * kMillisecond);
  open(scene);
  expect_slow("600 ms");
}

// "The others" are several.
TEST_F(RanksTest, OfTwoThereIsOneOther) {
  Scene scene;
  for (std::int32_t pid = 10; pid < 12; ++pid) {
    scene.rank(pid, pid - 10);
    const std::int64_t busy = (pid == 11 ? 8 : 2) * kSecond / 10;
    scene.calls({.dur = busy, .bytes = 4096, .pid = pid});
    scene.calls({.file = "", .dur = kSecond - busy, .bytes = 1, .pid = pid});
  }
  open(scene);
  ASSERT_EQ(words_.size(), 1U);
  EXPECT_NE(words_[0].find("the other's time is 200 ms: the other was 600 ms ahead of it."),
            std::string::npos)
      << words_[0];
  EXPECT_NE(accused_.find("so that the other was 600 ms ahead of it"), std::string::npos)
      << accused_;
}

TEST_F(RanksTest, EvenRanksAreNotAccused) {
  open({.read = 200 * kMillisecond, .cpu = 0.2, .factor = 1});
  expect_even();
}

}  // namespace
}  // namespace fathom::analysis
