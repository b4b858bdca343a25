// SPDX-License-Identifier: MIT
#include "cli/top/activity_page.h"

#include <gtest/gtest.h>

#include "cli/top/stragglers.h"
#include "render/render.h"

namespace fathom::cli::top {
namespace {

using analysis::Activity;

Activity three_workers() {
  Activity activity;
  activity.writers = "is being recorded";
  activity.elapsed_ns = 2'000'000'000;
  activity.events = 300;
  activity.sampled = true;
  for (const std::int64_t pid : {10, 11, 12})
    activity.processes.push_back(
        {.pid = pid, .program = "worker", .command = "worker -x", .cpu = 0.5});
  activity.calls = {{10, "posix", "read", "read", 100, 4096, 2e8, 0, 1000, 5'000'000'000},
                    {10, "stdio", "fread", "read", 10, 4000, 1e8, 0, 100, 1'000'000'000},
                    {11, "posix", "write", "write", 50, 8192, 1e8, 0, 500, 1'000'000'000},
                    {11, "python", "train", "", 5, 0, 9e8, 0, 50, 9'000'000'000},
                    {10, "syscall", "read", "read", 100, 4096, 2e8, 0, 1000, 5'000'000'000}};
  activity.functions = {{10, "", "sort", 7e8, 7'000'000'000}, {11, "", "sort", 1e8, 100}};
  activity.waits = {{12, "lock", "pthread_mutex_lock in push", 3e8, 9'000'000'000},
                    {12, "ready", "no CPU was free", 1e8, 1'000'000'000}};
  activity.threads = {{10, 10, "read", 3'000'000'000}, {10, 20, "open", 1'000}};
  return activity;
}

std::string text(const Table& table) { return render::render(table, render::Format::kCsv); }

TEST(TopActivity, ProcessesWithTheirRates) {
  const Page page = activity_page(three_workers(), "r.fathom", "");
  EXPECT_EQ(page.title, "r.fathom: 2.00 s, 3 processes, 300 events/s");
  ASSERT_EQ(page.tables.size(), 4U);
  EXPECT_EQ(page.ids, (std::vector<std::string>{"10", "11", "12"})) << "the busiest first";
  EXPECT_EQ(text(page.tables[0]),
            "pid,rank,program,cpu,memory,in_calls,waits,ready,calls,read,written,now,note\n"
            "10,,worker,50.0,,30.0,0.0,0.0,110,4096,0,read 3.00 s,\n"
            "11,,worker,50.0,,10.0,0.0,0.0,55,0,8192,,\n"
            "12,,worker,50.0,,0.0,30.0,10.0,0,0,0,,\"straggler: 0 calls/s, the others 55\"\n");
  EXPECT_EQ(page.end, "");
}

TEST(TopActivity, FunctionsCallsAndWaitsOfAll) {
  const Page page = activity_page(three_workers(), "r.fathom", "");
  EXPECT_EQ(text(page.tables[1]),
            "function,layer,cpu,total\ntrain,python,90.0,9000000000\n"
            "sort,cpu,80.0,7000000100\n");
  EXPECT_EQ(page.tables[2].rows.size(), 4U) << "functions of the program are no calls";
  EXPECT_EQ(text(page.tables[3]),
            "cause,wait,time,total\nlock,pthread_mutex_lock in push,30.0,9000000000\n"
            "ready,no CPU was free,10.0,1000000000\n");
}

TEST(TopActivity, OneProcess) {
  const Page page = activity_page(three_workers(), "r.fathom", "10");
  EXPECT_EQ(page.head, (std::vector<std::string>{"process 10: worker -x"}));
  EXPECT_EQ(text(page.tables[0]), "tid,call,since\n10,read,3000000000\n20,open,1000\n");
  EXPECT_EQ(text(page.tables[1]), "function,layer,cpu,total\nsort,cpu,70.0,7000000000\n");
  EXPECT_TRUE(page.tables[3].rows.empty());
  EXPECT_EQ(activity_page(three_workers(), "r.fathom", "99").head[0], "process 99 has ended");
}

TEST(TopActivity, TheEndSaysWhatToTypeNext) {
  Activity activity = three_workers();
  activity.writers.clear();
  EXPECT_EQ(activity_page(activity, "a b.fathom", "").end,
            "a b.fathom has ended; 'fathom report 'a b.fathom'' shows what it recorded");
}

TEST(TopActivity, LossesAreTold) {
  Activity activity = three_workers();
  activity.lost = 12;
  activity.left_out = 1;
  EXPECT_NE(activity_page(activity, "r", "").title.find("12 lost, 1 thread not read"),
            std::string::npos);
}

TEST(TopActivity, WithoutSamplesItSaysWhatWouldTell) {
  const Page page = activity_page(Activity(), "r", "");
  EXPECT_EQ(page.tables[0].note, "no recorded process runs now");
  EXPECT_NE(page.tables[1].note.find("layer cpu"), std::string::npos);
  EXPECT_EQ(page.tables[3].note, "record layer cpu to see waits");
}

// cpus and calls of workers.
Activity workers(const std::vector<std::pair<double, double>>& paces) {
  Activity activity;
  std::int64_t pid = 0;
  for (const auto& [cpus, calls] : paces) {
    activity.processes.push_back({.pid = ++pid, .program = "w", .cpu = cpus});
    activity.calls.push_back({pid, "posix", "read", "read", calls});
  }
  return activity;
}

TEST(TopStragglers, WhoWorksWhileOthersWait) {
  const auto found = find_stragglers(workers({{0.2, 100}, {0.2, 100}, {1.0, 100}, {0.3, 100}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at(3), "straggler: 100 % busy, the others 30 %");
}

TEST(TopStragglers, WhoWorksAsTheOthersAndGetsLessDone) {
  const auto found = find_stragglers(workers({{0.9, 100}, {0.9, 40}, {0.9, 110}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at(2), "straggler: 40 calls/s, the others 100");
}

TEST(TopStragglers, NearMisses) {
  EXPECT_TRUE(find_stragglers(workers({{0.2, 100}, {1.0, 100}})).empty()) << "two";
  EXPECT_TRUE(find_stragglers(workers({{0.9, 100}, {0.8, 90}, {1.0, 60}})).empty());
  EXPECT_TRUE(find_stragglers(workers({{0.1, 100}, {0.1, 100}, {0.3, 100}})).empty())
      << "little in all";
  EXPECT_TRUE(find_stragglers(workers({{0.9, 9}, {0.9, 1}, {0.9, 9}})).empty()) << "few calls";
  EXPECT_TRUE(find_stragglers(workers({{0.9, 100}, {0.9, 100}, {0.0, 0}})).empty())
      << "one that has nothing to do holds nobody up";
}

}  // namespace
}  // namespace fathom::cli::top
