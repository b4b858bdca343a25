// SPDX-License-Identifier: MIT
#include "trace/rows/sampled_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class SampledTimeTest : public ::testing::Test {
 protected:
  std::int64_t stack(std::string_view outer, std::string_view inner) {
    Frame frames[2];
    frames[0].function = strings_.code(outer);
    frames[1].function = strings_.code(inner);
    return stacks_.stack(frames, strings_);
  }
  void sample(std::string_view event, std::int64_t weight, std::int64_t stack,
              std::int64_t ready = kNull) {
    SampleRow row;
    row.pid = 7;
    row.tid = 8;
    row.event = strings_.code(event);
    row.weight = weight;
    row.stack = stack;
    row.ready = ready;
    samples_.rows.push_back(row);
  }
  void add() {
    time_.add(samples_, stacks_.take_new(), strings_);
    samples_.rows.clear();
  }
  ThreadTime told(std::int64_t ready = 0) {
    ThreadRow thread;
    thread.pid = 7;
    thread.tid = 8;
    thread.ready = ready;
    return time_.told({thread}, 0, {});
  }

  Strings strings_;
  StackTable stacks_;
  SampleBatch samples_;
  SampledTime time_;
};

TEST_F(SampledTimeTest, TheInnermostFunctionHasTheTime) {
  const std::int64_t row = stack("main", "row");
  sample(kOnCpu, 10, row);
  sample(kOnCpu, 20, stack("main", "swim"));
  add();
  sample(kOnCpu, 30, row);  // its frames came before
  sample("page-faults", 1000, row);
  add();
  const ThreadTime time = told();
  EXPECT_EQ(time.running, 60);
  EXPECT_THAT(time.functions, ElementsAre(Pair("row", 40), Pair("swim", 20)));
}

TEST_F(SampledTimeTest, ASampleWithoutAStackRanAllTheSame) {
  sample(kOnCpu, 10, kNull);
  add();
  EXPECT_EQ(told().running, 10);
  EXPECT_THAT(told().functions, ElementsAre());
}

TEST_F(SampledTimeTest, WhatTheKernelCountsAsReadyIsNoWaiting) {
  sample(kOffCpu, 100, kNull);
  sample(kOffCpu, 50, kNull, 50);
  add();
  EXPECT_EQ(told(0).waiting, 100);
  EXPECT_EQ(told(0).ready, 50);
  EXPECT_EQ(told(70).waiting, 80);
  EXPECT_EQ(told(70).ready, 70);
  EXPECT_EQ(told(1000).waiting, 0);
  EXPECT_EQ(told(1000).ready, 150);
}

// Shares are of lives: samples that were lost make no other part larger.
TEST_F(SampledTimeTest, WhatNoSampleTellsIsUnexplained) {
  sample(kOnCpu, 10, kNull);
  sample(kOffCpu, 20, kNull);
  add();
  ThreadRow ended;
  ended.pid = 7;
  ended.tid = 8;
  ended.start = 5;
  ended.end = 55;
  ThreadRow lives = ended;
  lives.start = 60;
  lives.end = kNull;
  const ThreadTime time = time_.told({ended, lives}, 100, {});
  EXPECT_EQ(time.life, 90);
  EXPECT_EQ(time.unexplained(), 60);
}

TEST(LifetimeOf, NobodyLivesForLessThanNothing) {
  ThreadRow late;  // it began when the run was over
  late.start = 120;
  EXPECT_EQ(lifetime_of({late}, 100), 0);
  EXPECT_EQ(lifetime_of({ThreadRow()}, 100), 0) << "nobody knows when it began";
}

TEST_F(SampledTimeTest, PlacesAreNamedWhenAsked) {
  Frame place;
  place.module = strings_.code("/bin/boat");
  place.offset = 16;
  sample(kOnCpu, 5, stacks_.stack(std::span(&place, 1), strings_));
  add();
  NameResolver resolver;
  resolver.frames = [](const CodePlace&) {
    return NamedPlace{
        .readable = true,
        .frames = {{.function = "caller", .file = ""}, {.function = "inlined", .file = ""}}};
  };
  EXPECT_THAT(time_.told({}, 0, resolver).functions, ElementsAre(Pair("inlined", 5)));
  EXPECT_THAT(time_.told({}, 0, {}).functions, ElementsAre(Pair("boat+0x10", 5)));
}

}  // namespace
}  // namespace fathom::trace
