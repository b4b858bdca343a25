// SPDX-License-Identifier: MIT
#include "analysis/live/tally.h"

#include <gtest/gtest.h>

#include "analysis/live/rates.h"

namespace fathom::analysis {
namespace {

class TallyTest : public ::testing::Test {
 protected:
  CallKey call(std::string_view name) {
    return {7, names_.code("posix"), names_.code(name), trace::kNoString};
  }
  TimeKey ran(std::string_view what) { return {7, trace::kNoString, names_.code(what)}; }
  trace::Strings names_;
};

TEST_F(TallyTest, RowsOfASummaryAreAddedWhateverTheirFile) {
  trace::Strings from;
  trace::SummaryTable sums;
  const std::uint32_t posix = from.code("posix"), read = from.code("read");
  for (const std::uint32_t file : {from.code("/a"), from.code("/b"), trace::kNoString}) {
    trace::SummaryKey key;
    key.layer = posix;
    key.name = key.category = read;
    key.file = file;
    key.pid = 7;
    sums.at(sums.find(key)).add(100, 50, 40, 4096, false);
  }
  Tally tally;
  tally.add(sums, from, names_);
  ASSERT_EQ(tally.calls().size(), 1U);
  const CallSum sum = tally.calls().begin()->second;
  EXPECT_EQ(sum.calls, 3);
  EXPECT_EQ(sum.self, 120);
  EXPECT_EQ(sum.bytes, 3 * 4096);
  EXPECT_EQ(sum.beyond, 40) << "the one without a file";
  EXPECT_EQ(tally.events(), 3);
}

TEST_F(TallyTest, NamesWithoutNumberShareARow) {
  Tally tally;
  for (std::size_t i = 0; i < Tally::kMostRows + 100; i++)
    tally.add(call("step " + std::to_string(i)), {1, 0, 1, 0}, names_);
  EXPECT_EQ(tally.calls().size(), Tally::kMostRows + 1);
  EXPECT_EQ(tally.of(call(trace::kOtherNames)).calls, 100);
  EXPECT_EQ(tally.events(), static_cast<std::int64_t>(Tally::kMostRows) + 100);
}

TEST_F(TallyTest, RatesAreDifferencesByTheTimeBetween) {
  Tally before;
  before.add(call("read"), {100, 1000, 500, 0}, names_);
  before.add(ran("sort"), {50, 50}, names_);
  before.reach(1'000'000'000);
  Tally now = before;
  now.add(call("read"), {20, 4000, 300, 0}, names_);
  now.add(call("open"), {2, 0, 10, 0}, names_);
  now.add(ran("sort"), {9000, 600}, names_);
  now.reach(3'000'000'000);
  Activity activity;
  add_rates(now, &before, names_, activity);
  ASSERT_EQ(activity.calls.size(), 2U);
  for (const CallNow& row : activity.calls) {
    EXPECT_EQ(row.calls, row.name == "read" ? 10 : 1) << row.name;
    EXPECT_EQ(row.total_calls, row.name == "read" ? 120 : 2) << row.name;
  }
  ASSERT_EQ(activity.functions.size(), 1U);
  EXPECT_EQ(activity.functions[0].ns, 300) << "what lay before the look is no rate";
  EXPECT_EQ(activity.functions[0].total_ns, 9050);
  EXPECT_EQ(activity.events, 11);
}

TEST_F(TallyTest, NoRatesWithoutAnEarlierOne) {
  Tally now;
  now.add(call("read"), {100, 1000, 500, 0}, names_);
  now.reach(1'000'000'000);
  for (const Tally* before :
       {static_cast<const Tally*>(nullptr), static_cast<const Tally*>(&now)}) {
    Activity activity;
    add_rates(now, before, names_, activity);
    EXPECT_EQ(activity.calls[0].calls, 0);
    EXPECT_EQ(activity.calls[0].total_calls, 100);
  }
}

TEST_F(TallyTest, CpuIsWhatTheKernelCountsElseWhatWasSampled) {
  Moment before, now;
  before.tally.reach(1'000'000'000);
  now.tally.reach(3'000'000'000);
  before.usage[1] = {1.0, 0.5, 100};
  now.usage[1] = {2.0, 0.5, 200};
  now.usage[3] = {0.5, 0.5, 300};
  Activity activity;
  activity.sampled = true;
  activity.processes = {{.pid = 1, .program = "counted"},
                        {.pid = 2, .program = "sampled"},
                        {.pid = 3, .program = "new", .start_ns = 2'000'000'000}};
  activity.functions = {{2, "", "f", 2e8, 0}, {2, "", "g", 1e8, 0}};
  add_usage(now, &before, activity);
  EXPECT_EQ(activity.processes[0].cpu, 0.5);
  EXPECT_EQ(activity.processes[0].memory_bytes, 200);
  EXPECT_NEAR(*activity.processes[1].cpu, 0.3, 1e-9);
  EXPECT_FALSE(activity.processes[1].memory_bytes.has_value());
  EXPECT_EQ(activity.processes[2].cpu, 0.5);
  activity.processes[0].cpu.reset();
  add_usage(now, nullptr, activity);
  EXPECT_FALSE(activity.processes[0].cpu.has_value());
}

}  // namespace
}  // namespace fathom::analysis
