// SPDX-License-Identifier: MIT
#include "analysis/import/sample_import.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/import/collapsed.h"
#include "analysis/import/perf_script.h"
#include "analysis/testing/import_box.h"

namespace fathom::analysis {
namespace {

class SampleImportTest : public testing::ImportBox {
 protected:
  Result<ImportOutcome> import(std::string_view content) {
    return import_into_trace({file("x.txt", content)});
  }
};

constexpr char kPerf[] = R"(# captured on: today
my prog  1234/1235 [001] 100.000001:     250000 cpu-clock:uH:
	    55d8c8a01139 inner(int, char const*)+0x15 (/home/me/prog)
	    55d8c8a01200 outer+0x20 (/home/me/prog)
	    7f00aa [unknown] (/lib/libc.so.6)

my prog  1234/1235 [000] 100.000251:     250000 cpu-clock:uH:
	    55d8c8a01200 outer+0x20 (/home/me/prog)
	prog.c:12

swapper     0 [000] 100.5: sched:sched_switch: prev_comm=x ==> next_comm=y
this is no line of perf
)";

TEST_F(SampleImportTest, PerfScript) {
  const Result<ImportOutcome> outcome = import(kPerf);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->rows, 3);
  EXPECT_EQ(outcome->damaged_lines, 1);
  expect_count(
      "samples WHERE pid = 1234 AND tid = 1235 AND cpu = 1 AND ts = 0 AND weight = 250000 AND "
      "event = 'cpu-clock:uH'",
      1);
  expect_count("samples WHERE ts = 250000 AND cpu = 0", 1);
  expect_count("samples WHERE event = 'sched:sched_switch' AND stack IS NULL AND pid = 0", 1);
  expect_count(
      "samples JOIN frames USING (stack) WHERE ts = 0 AND depth = 2 AND \"function\" = 'inner(int, "
      "char const*)' AND module = '/home/me/prog'",
      1);
  expect_count(
      "samples JOIN frames USING (stack) WHERE ts = 0 AND depth = 0 AND \"function\" IS NULL AND "
      "module = '/lib/libc.so.6'",
      1);
  expect_count("frames WHERE file = 'prog.c' AND line = 12 AND \"function\" = 'outer'", 1);
  expect_count("processes WHERE pid = 1234 AND name = 'my prog'", 1);
  expect_count("threads WHERE tid = 1235 AND name = 'my prog'", 1);
  expect_count("losses WHERE reason = 'damaged line' AND count = 1", 1);
}

TEST_F(SampleImportTest, Collapsed) {
  const Result<ImportOutcome> outcome = import("main;work;read file 10\nmain;work 5\n\nmain 1\n");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->rows, 3);
  expect_count(
      "samples JOIN frames USING (stack) WHERE weight = 10 AND \"function\" = 'read file' AND "
      "depth = 2",
      1);
  expect_count("samples WHERE event = 'samples'", 3);
}

TEST(PerfHead, DialectsOfPerf) {
  struct Case {
    const char* line;
    const char* comm;
    std::int32_t pid, tid;
    std::int64_t ts, period;
    const char* event;
  };
  const Case cases[] = {
      {"work 7 12.5: 99 cycles:", "work", -1, 7, 12'500'000'000, 99, "cycles"},
      {"  a b c  7/8 [003] 1.000000001: cycles:ppp:", "a b c", 7, 8, 1'000'000'001, 1,
       "cycles:ppp"},
      {"work 7/7 1.5: 1 task-clock: 55d8 main+0x1 (/x)", "work", 7, 7, 1'500'000'000, 1,
       "task-clock"},
  };
  for (const Case& one : cases) {
    const std::optional<PerfHead> head = parse_perf_head(one.line);
    ASSERT_TRUE(head.has_value()) << one.line;
    EXPECT_EQ(head->comm, one.comm);
    EXPECT_EQ(head->pid.value_or(-1), one.pid);
    EXPECT_EQ(head->tid, one.tid);
    EXPECT_EQ(head->ts, one.ts);
    EXPECT_EQ(head->period, one.period);
    EXPECT_EQ(head->event, one.event);
  }
  for (const char* line : {"", "hello world", "work 7", "work x 1.5: cycles:", "1.5: cycles:",
                           "work 7 [x] 1.5: cycles:", "work 7 1.5: 3"})
    EXPECT_FALSE(parse_perf_head(line).has_value()) << line;
}

TEST(CollapsedStacks, LinesThatAreNone) {
  for (const char* line : {"", "main", "main;work x", "main;work -3", " 12", "main;work 1.5"})
    EXPECT_FALSE(parse_collapsed(line).has_value()) << line;
  EXPECT_EQ(parse_collapsed("a b;c 7")->functions.size(), 2U);
}

}  // namespace
}  // namespace fathom::analysis
