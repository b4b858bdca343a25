// SPDX-License-Identifier: MIT
#include "base/proc_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/testing/emulation.h"

namespace fathom {
namespace {

const std::string kNumbers =
    " S 7 8 9 0 -1 4194560 101 5 3 6 250 50 1 2 20 0 4 0 987654 104857600 2560 "
    "18446744073709551615 1 1";

TEST(ProcessStat, OddNamesAreNoTrouble) {
  struct Case {
    const char* name;
    std::string comm;
  };
  const Case cases[] = {{"plain", "hog"},
                        {"spaces", "my program"},
                        {"parentheses", "a) R 1 (b"},
                        {"closing only", "x)"},
                        {"opening only", "("},
                        {"empty", ""},
                        {"a newline", "two\nlines"},
                        {"not UTF-8", "\xff\xfe"}};
  for (const Case& c : cases) {
    const auto stat = parse_process_stat("42 (" + c.comm + ")" + kNumbers + "\n");
    ASSERT_TRUE(stat) << c.name;
    EXPECT_EQ(stat->pid, 42) << c.name;
    EXPECT_EQ(stat->name, c.comm) << c.name;
    EXPECT_EQ(stat->state, 'S') << c.name;
    EXPECT_EQ(stat->ppid, 7) << c.name;
    EXPECT_EQ(stat->minor_faults, 101U) << c.name;
    EXPECT_EQ(stat->major_faults, 3U) << c.name;
    EXPECT_EQ(stat->user_ticks, 250U) << c.name;
    EXPECT_EQ(stat->system_ticks, 50U) << c.name;
    EXPECT_EQ(stat->threads, 4U) << c.name;
    EXPECT_EQ(stat->start_ticks, 987654U) << c.name;
    EXPECT_EQ(stat->vsize_bytes, 104857600U) << c.name;
    EXPECT_EQ(stat->rss_pages, 2560U) << c.name;
  }
}

TEST(ProcessStat, CutTextsAreRefused) {
  const std::string whole = "42 (hog)" + kNumbers;
  const std::size_t needed =
      whole.find(" 2560") + 2;  // a shorter last number cannot be told from a whole one
  for (std::size_t length = 0; length < needed; ++length) {
    EXPECT_FALSE(parse_process_stat(whole.substr(0, length))) << length;
  }
}

TEST(ProcessStat, ReadsThisProcess) {
  FATHOM_SKIP_UNDER_EMULATION("/proc/self/stat is invented");
  const auto stat = parse_process_stat(read_file("/proc/self/stat").value());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, getpid());
  EXPECT_EQ(stat->ppid, getppid());
  EXPECT_GT(stat->rss_pages, 100U);
}

TEST(ProcessStat, LaterFieldsAreTakenWhereTheyAre) {
  const auto shorter = parse_process_stat("42 (hog)" + kNumbers);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->cpu, -1);
  const auto whole = parse_process_stat("42 (hog)" + kNumbers + " 140725 0 0 0 0 0 0 0 0 0 17 3 0");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->start_stack, 140725U);
  EXPECT_EQ(whole->cpu, 3);
}

TEST(SchedStatText, HasThreeNumbers) {
  const auto stat = parse_schedstat("214318 3273578 12\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->ran, 214318);
  EXPECT_EQ(stat->ready, 3273578);
  EXPECT_EQ(stat->arrivals, 12U);
  for (const char* text : {"", "1 2", "1 x 3", "-1 2 3", "1 -2 3", "99999999999999999999 1 1"})
    EXPECT_FALSE(parse_schedstat(text)) << text;
}

TEST(SyscallText, TellsWhereAThreadSleeps) {
  const auto read =
      parse_syscall("0 0x3 0x7f 0x20000 0x0 0xff 0x0 0x7ffd10337328 0x7f0fc8e0c2ad\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->call, 0);
  EXPECT_EQ(read->arguments[2], 0x20000U);
  EXPECT_EQ(read->stack_pointer, 0x7ffd10337328U);
  const auto fault = parse_syscall("-1 0x7ffd10337328 0x7f0fc8e0c2ad\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->call, -1);
  EXPECT_EQ(fault->stack_pointer, 0x7ffd10337328U);
  for (const char* text : {"running\n", "", "7", "0 0x3 0x7f", "-1 7 8", "-1 0xg 0x1"})
    EXPECT_FALSE(parse_syscall(text)) << text;
}

TEST(NumberOf, FindsTheKeyAtTheStartOfALine) {
  const std::string text =
      "Name:\tPss: 7\nRss:    1024 kB\nPss_Dirty: 5 kB\nPss:   512 kB\nusage_usec 77\n"
      "nonvoluntary_ctxt_switches:\t3\nbroken: x\n";
  EXPECT_EQ(number_of(text, "Rss"), 1024U);
  EXPECT_EQ(number_of(text, "Pss"), 512U);
  EXPECT_EQ(number_of(text, "usage_usec"), 77U);
  EXPECT_EQ(number_of(text, "nonvoluntary_ctxt_switches"), 3U);
  EXPECT_FALSE(number_of(text, "voluntary_ctxt_switches"));
  EXPECT_FALSE(number_of(text, "broken"));
  EXPECT_FALSE(number_of("", "Rss"));
}

TEST(MachineCpu, BusyIsAllButIdleAndWaiting) {
  const auto cpu = parse_machine_cpu("cpu  10 1 5 80 4 2 3 1 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->total, 106U);
  EXPECT_EQ(cpu->busy, 22U);
  EXPECT_EQ(cpu->stolen, 1U);
  EXPECT_FALSE(parse_machine_cpu("cpu 1 2"));
  EXPECT_FALSE(parse_machine_cpu("intr 1 2 3 4 5 6 7 8"));
}

TEST(Pids, AreReadAndNonsenseIsSkipped) {
  EXPECT_THAT(parse_pids("12 345 6 \n"), ::testing::ElementsAre(12, 345, 6));
  EXPECT_THAT(parse_pids(""), ::testing::IsEmpty());
  EXPECT_THAT(parse_pids("x 0 -4 9"), ::testing::ElementsAre(9));
}

}  // namespace
}  // namespace fathom
