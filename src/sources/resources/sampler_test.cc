// SPDX-License-Identifier: MIT
#include "sources/resources/sampler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>

#include "base/files.h"
#include "base/testing/emulation.h"

namespace fathom::sources {
namespace {

// A child that waits until it is told to end, and may have a child of its own.
class Waiting {
 public:
  explicit Waiting(bool with_child) {
    int ends[2];
    int told[2];
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(pipe(told), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[1]);
      const pid_t child = with_child ? fork() : getpid();
      if (child != 0) (void)!write(told[1], &child, sizeof child);
      char byte = 0;
      (void)!read(ends[0], &byte, 1);
      _exit(0);
    }
    EXPECT_EQ(read(told[0], &inner_, sizeof inner_), static_cast<ssize_t>(sizeof inner_));
    close(ends[0]);
    close(told[0]);
    close(told[1]);
    end_ = Fd(ends[1]);
  }
  ~Waiting() { reap(); }
  void let_end() {
    end_.reset();
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    end_.reset();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }
  pid_t inner() const { return inner_; }

 private:
  pid_t pid_ = 0;
  pid_t inner_ = 0;
  Fd end_;
};

std::map<std::string, double> values_of(const CounterRows& rows, std::int32_t pid) {
  std::map<std::string, double> values;
  for (const trace::CounterRow& row : rows.batch.rows) {
    if (row.pid == pid) values[std::string(rows.strings.view(row.name))] = row.value;
  }
  return values;
}

std::set<pid_t> pids_of(const std::vector<ProcessStat>& stats) {
  std::set<pid_t> pids;
  for (const ProcessStat& stat : stats) pids.insert(stat.pid);
  return pids;
}

TEST(ProcessTree, FollowsChildrenAndForgetsTheDead) {
  Waiting program(true);
  ProcessTree tree;
  tree.add(program.pid());
  EXPECT_EQ(pids_of(tree.refresh()), (std::set<pid_t>{program.pid(), program.inner()}));
  const pid_t gone = program.pid();
  program.reap();
  EXPECT_FALSE(pids_of(tree.refresh()).contains(gone));
}

TEST(ProcessTree, AZombieIsGivenOnce) {
  Waiting program(false);
  ProcessTree tree;
  tree.add(program.pid());
  ASSERT_EQ(tree.refresh().size(), 1U);
  program.let_end();
  const std::vector<ProcessStat> last = tree.refresh();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].state, 'Z');
  EXPECT_TRUE(tree.refresh().empty());
}

TEST(ProcessTree, WhatDoesNotExistIsForgotten) {
  ProcessTree tree;
  tree.add(0x3fffffff);
  EXPECT_TRUE(tree.refresh().empty());
}

TEST(Sampler, GivesEverySeriesOfAProcessAndOfTheMachine) {
  FATHOM_SKIP_UNDER_EMULATION("/proc/self/stat is invented");
  Sampler sampler;
  sampler.add(getpid());
  CounterRows rows;
  sampler.sample(5, true, rows);
  auto own = values_of(rows, getpid());
  for (const char* name : {"rss", "vsize", "threads", "cpu_user", "cpu_system", "minor_faults",
                           "major_faults", "voluntary_switches", "involuntary_switches"}) {
    EXPECT_TRUE(own.contains(name)) << name;
  }
  EXPECT_GT(own["rss"], 1 << 20);
  EXPECT_LT(own["rss"], own["vsize"]);
  EXPECT_GE(own["threads"], 1);
  auto machine = values_of(rows, trace::kNull32);
  EXPECT_GT(machine["memory_used"], 1 << 20);
  for (const trace::CounterRow& row : rows.batch.rows) {
    EXPECT_EQ(row.ts, 5);
    EXPECT_EQ(rows.strings.view(row.layer), "resource");
    EXPECT_FALSE(rows.strings.view(row.unit).empty());
  }
}

TEST(Sampler, DearSeriesAreLeftOutUnlessThorough) {
  Sampler sampler;
  sampler.add(getpid());
  CounterRows rows;
  sampler.sample(0, false, rows);
  const auto own = values_of(rows, getpid());
  EXPECT_TRUE(own.contains("rss"));
  EXPECT_FALSE(own.contains("pss"));
  EXPECT_FALSE(own.contains("voluntary_switches"));
}

TEST(Sampler, AnEndedProcessTellsItsCpuTimeButNoMemory) {
  Waiting program(false);
  Sampler sampler;
  sampler.add(program.pid());
  program.let_end();
  CounterRows rows;
  sampler.sample(0, true, rows);
  const auto last = values_of(rows, program.pid());
  EXPECT_TRUE(last.contains("cpu_user"));
  EXPECT_FALSE(last.contains("rss"));
}

}  // namespace
}  // namespace fathom::sources
