// SPDX-License-Identifier: MIT
// What 100 % of the threads' time is, wherever somebody tells shares of it.
#include <gtest/gtest.h>

#include "analysis/compare/testing/text_store.h"
#include "analysis/filtered_views.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"
#include "trace/rows/sampled_time.h"

namespace fathom::analysis {
namespace {

class TimeView : public testing::TextStores {
 protected:
  static std::string rows(Store& store) {
    const Result<Table> found = store.query(R"(SELECT state, "time", share FROM "time")");
    return found ? testing::lines_of(*found) : found.error().message;
  }
};

RowFilter from_to(std::int64_t from_ns, std::int64_t to_ns) {
  RowFilter filter;
  filter.from_ns = from_ns;
  filter.to_ns = to_ns;
  return filter;
}

trace::ThreadRow thread(std::int64_t tid, std::int64_t start, std::int64_t end = trace::kNull) {
  trace::ThreadRow row;
  row.pid = 10;
  row.tid = tid;
  row.start = start;
  row.end = end;
  return row;
}

// A process that goes on, beside one that has ended: its threads live until now.
constexpr char kGoesOn[] =
    "run host=here start=1700000000000000000 duration=1000\n"
    "process 10 name=work start=0 rung=perf\n"
    "process 20 name=help start=100 end=300 exit=0 rung=perf\n"
    "thread 10/10 start=0 ready=0\n"
    "thread 10/11 start=200 end=700 ready=0\n"
    "sample 10/10 150 cpu-clock weight=150 stack=main!/bin/work\n";

TEST_F(TimeView, ThreadsWithoutAnEndLiveUntilTheRunsEnd) {
  Store store = open(record(kGoesOn));
  EXPECT_EQ(rows(store), "state|time|share\nrunning|150|10\nunexplained|1350|90");
  EXPECT_EQ(trace::lifetime_of({thread(10, 0), thread(11, 200, 700)}, 1000), 1500)
      << "the summary of a run says the same";
  const Result<TimeBase> base = time_base(store);
  ASSERT_TRUE(base);
  EXPECT_EQ(base->thread_time, 1500) << "and so do all other shares of a report";
}

// What the sample after the begin stands for lies before it in part.
TEST_F(TimeView, APartHasNoMoreThanItsThreadsLived) {
  Store store =
      open(record("run host=here start=1700000000000000000 duration=1000\n"
                  "process 10 name=work start=0 end=1000 exit=0 rung=perf\n"
                  "thread 10/10 start=0 end=1000 ready=0\n"
                  "sample 10/10 300 off-cpu weight=200 stack=main!/bin/work\n"
                  "sample 10/10 520 off-cpu weight=60 stack=main!/bin/work\n"
                  "sample 10/10 600 cpu-clock weight=340 stack=main!/bin/work\n"
                  "sample 10/10 900 cpu-clock weight=300 stack=main!/bin/work\n"));
  ASSERT_TRUE(show_only(store, from_to(400, 700)));
  // From 500 to 520 and from 580 to 600 it ran; what the sample at 900 says of 600 to 700 is left
  // out.
  EXPECT_EQ(testing::lines_of(*store.query(R"(SELECT state, "time" FROM "time")")),
            "state|time\nwaiting|160\nrunning|40\nunexplained|100");
}

// "100 % is unexplained" of a part without samples would be an answer to another question.
TEST_F(TimeView, WithoutSamplesThereIsNoAccount) {
  Store store = open(record(kGoesOn));
  EXPECT_EQ(time_table(store)->rows.size(), 2U);
  RowFilter filter;
  filter.layers = {"posix"};
  ASSERT_TRUE(show_only(store, filter));
  const Result<Table> table = time_table(store);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_TRUE(table->rows.empty());
}

}  // namespace
}  // namespace fathom::analysis
