// SPDX-License-Identifier: MIT
#include "perf/counting.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/testing/sanitized.h"
#include "perf/open.h"

namespace fathom::perf {
namespace {

constexpr std::size_t kPage = 4096;

void touch_pages(std::size_t pages) {
  void* const memory =
      ::mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(memory, pages * kPage, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * kPage] = 1;
  ::munmap(memory, pages * kPage);
}

// A process that does something when it is told to.
class Waiting {
 public:
  template <class Work>
  explicit Waiting(Work work) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      char word = 0;
      ::close(ends[1]);
      (void)!::read(ends[0], &word, 1);
      work();
      ::_exit(0);
    }
    ::close(ends[0]);
    go_ = ends[1];
  }
  ~Waiting() { finish(); }
  void finish() {
    if (go_ < 0) return;
    (void)!::write(go_, "", 1);
    ::close(go_);
    go_ = -1;
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int go_ = -1;
};

bool can_count() {
  perf_event_attr attr = parse_event("page-faults:u").value().attr();
  return open_event(attr, {}).has_value();
}

std::vector<Count> counted(std::string_view events, Waiting& process) {
  Result<Counting> counting =
      Counting::open(parse_events(events).value(), process.pid(), Counting::Start::kNow);
  EXPECT_TRUE(counting);
  counting->enable();
  process.finish();
  return counting->read();
}

TEST(Counting, FaultsOfAProcessItsThreadsAndItsChildrenAddUp) {
  if (!can_count()) GTEST_SKIP() << "page faults cannot be counted here";
  Waiting process([] {
    touch_pages(1000);
    std::thread([] { touch_pages(1000); }).join();
    if (const pid_t child = ::fork(); child == 0) {
      touch_pages(1000);
      ::_exit(0);
    } else {
      ::waitpid(child, nullptr, 0);
    }
  });
  const std::vector<Count> counts = counted("page-faults:u", process);
  ASSERT_TRUE(counts[0].value) << counts[0].reason;
  EXPECT_GE(*counts[0].value, 3000);
  if (!kHasShadowMemory) EXPECT_LE(*counts[0].value, 3500);
  EXPECT_EQ(counts[0].coverage, 1);
  EXPECT_FALSE(counts[0].user_only);
}

TEST(Counting, AProcessWithoutItsChildren) {
  if (!can_count()) GTEST_SKIP() << "page faults cannot be counted here";
  Waiting process([] {
    std::thread([] { touch_pages(1000); }).join();
    if (const pid_t child = ::fork(); child == 0) {
      touch_pages(5000);
      ::_exit(0);
    } else {
      ::waitpid(child, nullptr, 0);
    }
  });
  Result<Counting> counting = Counting::open(parse_events("page-faults:u").value(), process.pid(),
                                             Counting::Start::kNow, Counting::Scope::kProcess);
  ASSERT_TRUE(counting);
  counting->enable();
  process.finish();
  const std::vector<Count> counts = counting->read();
  if (!counts[0].value) GTEST_SKIP() << counts[0].reason;  // before Linux 5.13
  EXPECT_GE(*counts[0].value, 1000);
  if (!kHasShadowMemory) EXPECT_LE(*counts[0].value, 2000);
}

TEST(Counting, MembersOfAGroupHaveOneCoverage) {
  if (!can_count()) GTEST_SKIP() << "page faults cannot be counted here";
  Waiting process([] { touch_pages(100); });
  const std::vector<Count> counts = counted("{task-clock,page-faults:u}", process);
  EXPECT_EQ(counts[0].coverage, counts[1].coverage);
  EXPECT_GT(*counts[0].value, 0);
  EXPECT_GE(*counts[1].value, 100);
}

TEST(Counting, WhatIsNotCountedHasAReasonAndNoValue) {
  Waiting process([] {});
  const Places nowhere{.devices = "/none", .tracing = {"/none"}};
  std::vector<EventGroup> groups =
      parse_events("context-switches:u,sched:sched_switch", nowhere).value();
  Event odd;
  odd.name = "odd";
  odd.type = 12345;
  groups.push_back({{odd}});
  Result<Counting> counting = Counting::open(groups, process.pid(), Counting::Start::kNow);
  ASSERT_TRUE(counting);
  EXPECT_EQ(counting->opened(), 0U);
  EXPECT_NE(counting->why_none().message.find("context-switches:u"), std::string::npos);
  counting->enable();
  process.finish();
  for (const Count& count : counting->read()) {
    EXPECT_FALSE(count.value) << count.name;
    EXPECT_NE(count.reason, "") << count.name;
    EXPECT_EQ(count.coverage, 0) << count.name;
  }
}

TEST(Counting, AProcessThatDidNotRunHasNoZero) {
  if (!can_count()) GTEST_SKIP() << "page faults cannot be counted here";
  Waiting process([] {});
  ::usleep(20'000);  // until it waits
  Result<Counting> counting =
      Counting::open(parse_events("page-faults:u").value(), process.pid(), Counting::Start::kNow);
  ASSERT_TRUE(counting);
  counting->enable();
  const std::vector<Count> counts = counting->read();
  EXPECT_FALSE(counts[0].value);
  EXPECT_NE(counts[0].reason, "");
}

TEST(Counting, NoSuchProcessIsAnError) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const Result<Counting> counting =
      Counting::open(parse_events("task-clock").value(), child, Counting::Start::kNow);
  ASSERT_FALSE(counting);
  EXPECT_EQ(counting.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom::perf
