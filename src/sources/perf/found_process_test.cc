// SPDX-License-Identifier: MIT
#include "sources/perf/found_process.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

#include "base/clock.h"
#include "base/files.h"

namespace fathom::sources {
namespace {

TEST(FoundProcess, ThreadsWithTheirNamesAndStates) {
  std::binary_semaphore end(0);
  std::atomic<pid_t> tid = 0;
  std::thread sleeper([&] {
    ::pthread_setname_np(::pthread_self(), "a sleeper");
    tid = static_cast<pid_t>(::syscall(SYS_gettid));
    end.acquire();
  });
  while (tid == 0) std::this_thread::yield();
  FoundThread found;
  // It sleeps some time after it has told its number.
  for (int look = 0; look < 5000 && !found.asleep; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    found = find_thread(::getpid(), tid);
  }
  EXPECT_EQ(found.name, "a sleeper");
  EXPECT_TRUE(found.asleep);
  const FoundProcess process = ProcessFinder().find(::getpid());
  EXPECT_EQ(process.ppid, ::getppid());
  EXPECT_GT(process.started_ns, 0);
  EXPECT_LE(process.started_ns, now_monotonic_ns());
  EXPECT_EQ(std::ranges::count(process.threads, ::getpid(), &FoundThread::tid), 1);
  EXPECT_EQ(std::ranges::count(process.threads, tid.load(), &FoundThread::tid), 1);
  const auto self = std::ranges::find(process.threads, ::getpid(), &FoundThread::tid);
  EXPECT_FALSE(self->asleep);
  end.release();
  sleeper.join();
}

TEST(FoundProcess, CodeWithItsFiles) {
  const FoundProcess process = ProcessFinder().find(::getpid());
  const std::string own = real_path("/proc/self/exe").value();
  const auto code = std::ranges::find_if(
      process.code, [&](const FoundCode& one) { return one.mapping.path == own; });
  ASSERT_NE(code, process.code.end());
  EXPECT_GT(code->mapping.length, 0U);
}

TEST(FoundProcess, OneThatIsGoneHasNothing) {
  const FoundProcess process = ProcessFinder().find(0x7ffffff0);
  EXPECT_TRUE(process.threads.empty());
  EXPECT_TRUE(process.code.empty());
  EXPECT_EQ(find_thread(0x7ffffff0, 0x7ffffff0).name, "");
}

TEST(FoundProcess, FunctionsOfTheKernel) {
  const std::vector<std::string> functions = parse_kernel_stack(
      "[<0>] futex_wait_queue+0x60/0x90\n[<0>] do_futex+0x1/0x2 [a_module]\n[<0>] 0xffff\n?\n");
  EXPECT_EQ(functions, (std::vector<std::string>{"futex_wait_queue", "do_futex", "0xffff"}));
}

}  // namespace
}  // namespace fathom::sources
