// SPDX-License-Identifier: MIT
// Counters of a real program against what it is known to do.
#include "sources/perf/event_counts.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/clock.h"
#include "base/files.h"
#include "perf/open.h"

namespace fathom::sources {
namespace {

// A shell that waits to become the program when it is told to.
class Waiting {
 public:
  explicit Waiting(const char* script) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      char word = 0;
      ::close(ends[1]);
      (void)!::read(ends[0], &word, 1);
      ::execl("/bin/sh", "sh", "-c", script, nullptr);
      ::_exit(127);
    }
    ::close(ends[0]);
    go_.reset(ends[1]);
  }
  void go() { (void)!::write(go_.get(), "", 1); }
  void wait() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  ~Waiting() { ::waitpid(pid_, nullptr, 0); }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  Fd go_;
};

bool can_count() {
  perf_event_attr attr = perf::parse_event("page-faults").value().attr();
  attr.inherit = 1;
  return perf::open_event(attr, {}).has_value();
}

TEST(EventCounts, EveryProcessHasItsOwnAndTheyAddUp) {
  if (!can_count()) GTEST_SKIP() << "page faults cannot be counted here";
  Waiting program("sh -c 'sleep 0.3'; for i in 1 2 3; do sh -c :; done; sh -c : & wait");
  EventCounts counts;
  counts.adopt(program.pid(), perf::parse_each("page-faults,task-clock").value());
  Result<perf::Counting> truth = perf::Counting::open(perf::parse_events("page-faults").value(),
                                                      program.pid(), perf::Counting::Start::kExec);
  ASSERT_TRUE(truth);
  counts.start(now_monotonic_ns(), 10'000'000);
  program.go();
  program.wait();
  counts.stop();
  trace::Strings strings;
  trace::HostRows rows;
  counts.drain(strings, rows);
  std::map<std::int32_t, double> last;
  for (const trace::CounterRow& row : rows.counters.rows) {
    if (strings.view(row.name) != "page-faults") continue;
    EXPECT_GE(row.value, last[row.pid]) << "counts grow";
    last[row.pid] = row.value;
  }
  EXPECT_GE(last.size(), 6U);
  EXPECT_TRUE(last.contains(program.pid()));
  double sum = 0;
  for (const auto& [pid, value] : last) {
    EXPECT_GT(value, 20) << pid;
    sum += value;
  }
  EXPECT_EQ(sum, *truth->read()[0].value);
  EXPECT_EQ(counts.lack(), "");
  EXPECT_TRUE(rows.losses.empty());
}

TEST(EventCounts, WhatIsRefusedIsSaidWithItsReason) {
  if (!can_count()) GTEST_SKIP() << "page faults cannot be counted here";
  Waiting program(":");
  std::vector<perf::Event> events = perf::parse_each("page-faults,context-switches:u").value();
  events[1].type = 12345;
  EventCounts counts;
  counts.adopt(program.pid(), events);
  EXPECT_NE(counts.lack().find("--count context-switches:u: "), std::string::npos) << counts.lack();
  EXPECT_EQ(counts.lack().find("page-faults"), std::string::npos);
  program.go();
}

TEST(EventCounts, NothingIsCountedWhereNobodyAsks) {
  EventCounts counts;
  counts.adopt(::getpid(), {});
  counts.start(0, 1);
  counts.stop();
  trace::Strings strings;
  trace::HostRows rows;
  counts.drain(strings, rows);
  EXPECT_TRUE(rows.empty());
  EXPECT_EQ(counts.lack(), "");
}

}  // namespace
}  // namespace fathom::sources
