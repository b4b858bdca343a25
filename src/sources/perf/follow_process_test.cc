// SPDX-License-Identifier: MIT
#include "sources/perf/follow_process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "perf/event.h"

namespace fathom::sources {
namespace {

class FollowProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<SampledEvents> events =
        SampledEvents::open({.event = perf::parse_event("cpu-clock").value()});
    if (!events) GTEST_SKIP() << events.error().message;
    events_.emplace(std::move(events).value());
  }
  void TearDown() override {
    end_.release(static_cast<std::ptrdiff_t>(threads_.size()));
    for (std::thread& thread : threads_) thread.join();
  }
  pid_t sleeper() {
    std::atomic<pid_t> tid = 0;
    threads_.emplace_back([&] {
      tid = static_cast<pid_t>(::syscall(SYS_gettid));
      end_.acquire();
    });
    while (tid == 0) std::this_thread::yield();
    return tid;
  }
  std::optional<SampledEvents> events_;
  RecordQueue records_;
  std::counting_semaphore<> end_{0};
  std::vector<std::thread> threads_;
};

TEST_F(FollowProcess, EveryThreadThatIsThere) {
  const pid_t first = sleeper();
  const pid_t second = sleeper();
  const Result<FollowedThreads> followed = follow_process(::getpid(), *events_, records_);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_EQ(followed->threads, (std::set<pid_t>{::getpid(), first, second}));
  EXPECT_EQ(followed->refused, 0U);
}

TEST_F(FollowProcess, ThreadsThatAreMadeLaterAreToldOf) {
  ASSERT_TRUE(follow_process(::getpid(), *events_, records_));
  const pid_t later = sleeper();
  std::set<pid_t> made;
  events_->read(records_, &made);
  EXPECT_TRUE(made.contains(later));
}

TEST_F(FollowProcess, OneThatIsGone) {
  const Result<FollowedThreads> followed = follow_process(0x7ffffff0, *events_, records_);
  ASSERT_FALSE(followed);
  EXPECT_EQ(followed.error().code, Code::kNotFound);
}

// Descriptors for the first threads alone.
TEST_F(FollowProcess, ThreadsWithoutDescriptorsAreCounted) {
  for (int i = 0; i < 20; ++i) sleeper();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  rlimit few = before;
  few.rlim_cur =
      static_cast<rlim_t>(next) + 4 * static_cast<rlim_t>(std::thread::hardware_concurrency());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Result<FollowedThreads> followed = follow_process(::getpid(), *events_, records_);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_GT(followed->refused, 0U);
  EXPECT_LT(followed->threads.size(), 21U);
}

}  // namespace
}  // namespace fathom::sources
