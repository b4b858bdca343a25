// SPDX-License-Identifier: MIT
// Counters of a process that runs already against what it is known to do from then on.
#include "sources/perf/joined_counts.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "base/proc_text.h"
#include "perf/open.h"

namespace fathom::sources {
namespace {

constexpr std::size_t kPages = 300;
constexpr std::size_t kPage = 4096;

// Touches its pages when it is told to, and ends.
class Running {
 public:
  Running() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      char word = 0;
      (void)!::read(ends[0], &word, 1);
      void* const pages = ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ::madvise(pages, kPages * kPage, MADV_NOHUGEPAGE);
      for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(pages)[i * kPage] = 1;
      ::_exit(0);
    }
    ::close(ends[0]);
    go_.reset(ends[1]);
    while (!waits()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Running() { ::waitpid(pid_, nullptr, 0); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void go_and_end() {
    (void)!::write(go_.get(), "", 1);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[nodiscard]] bool waits() const {
    const Result<std::string> text = read_file("/proc/" + std::to_string(pid_) + "/stat");
    const std::optional<ProcessStat> stat = text ? parse_process_stat(*text) : std::nullopt;
    return !stat || stat->state == 'S';
  }

  pid_t pid_ = 0;
  Fd go_;
};

class JoinedCountsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    perf_event_attr attr = perf::parse_event("page-faults").value().attr();
    attr.inherit = 1;
    if (!perf::open_event(attr, {})) GTEST_SKIP() << "page faults cannot be counted here";
  }
  void begin(std::vector<perf::Event> events) {
    counts_.prepare(std::move(events), [this] {
      ++looks_;
      return lives_ ? std::vector<Followed>{{running_.pid(), 1}} : std::vector<Followed>();
    });
    counts_.start(now_monotonic_ns(), 1'000'000);
  }
  // A whole look, from its beginning to its end.
  void wait_for_look() {
    for (const int last = looks_ + 2; looks_ < last;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::vector<double> values(const char* event) {
    trace::HostRows rows;
    counts_.drain(strings_, rows);
    std::vector<double> all;
    for (const trace::CounterRow& row : rows.counters.rows) {
      EXPECT_EQ(row.pid, running_.pid());
      if (strings_.view(row.name) == event) all.push_back(row.value);
    }
    return all;
  }

  Running running_;
  std::atomic<int> looks_ = 0;
  std::atomic<bool> lives_ = true;
  trace::Strings strings_;
  JoinedCounts counts_;
};

TEST_F(JoinedCountsTest, TheLastRowIsExactThoughTheProcessHasEnded) {
  begin(perf::parse_each("page-faults").value());
  wait_for_look();
  perf::Counting truth =
      perf::Counting::open(perf::parse_events("page-faults").value(), running_.pid(),
                           perf::Counting::Start::kNow, perf::Counting::Scope::kProcess)
          .value();
  truth.enable();
  running_.go_and_end();
  lives_ = false;
  wait_for_look();
  counts_.stop();
  const std::vector<double> told = values("page-faults");
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), truth.read()[0].value);
  EXPECT_GE(told.back(), static_cast<double>(kPages));
  EXPECT_TRUE(std::ranges::is_sorted(told)) << "a row is where it grew";
  EXPECT_EQ(counts_.lack(), "");
}

TEST_F(JoinedCountsTest, WhatIsRefusedIsSaidWithItsReason) {
  std::vector<perf::Event> events = perf::parse_each("page-faults,context-switches:u").value();
  events[1].type = 12345;
  begin(std::move(events));
  wait_for_look();
  running_.go_and_end();
  counts_.stop();
  EXPECT_NE(counts_.lack().find("--count context-switches:u: "), std::string::npos)
      << counts_.lack();
  EXPECT_EQ(counts_.lack().find("page-faults"), std::string::npos);
  EXPECT_FALSE(values("page-faults").empty()) << "the other one is counted";
}

TEST_F(JoinedCountsTest, NothingIsCountedWhereNobodyAsks) {
  begin({});
  running_.go_and_end();
  counts_.stop();
  EXPECT_EQ(looks_, 0);
  EXPECT_TRUE(values("page-faults").empty());
}

}  // namespace
}  // namespace fathom::sources
