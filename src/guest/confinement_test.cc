// SPDX-License-Identifier: MIT
#include "guest/confinement.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "guest/descriptors.h"
#include "guest/syscalls.h"
#include "guest/testing/world.h"

namespace fathom::guest {
namespace {

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// What a test does is for ever: it happens in a child.
template <class Body>
void in_a_child(Body body) {
  testing::enter_world();
  const pid_t child = fork();
  if (child == 0) {
    testing::become_child();
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Confinement, NoCallIsMade) {
  in_a_child([] {
    confine(false);
    EXPECT_EQ(raw_syscall(SYS_getpid), -EPERM);
    EXPECT_EQ(sys_mmap(4096, 0, 0, -1), nullptr);
    unconfine();
    EXPECT_EQ(raw_syscall(SYS_getpid), getpid());
  });
}

TEST(Confinement, ThreadsAndChildrenKnowTheirNumbers) {
  in_a_child([] {
    confine(false);
    EXPECT_EQ(own_tid(), gettid());
    std::thread([] { EXPECT_EQ(own_tid(), gettid()); }).join();
    const pid_t child = fork();
    if (child == 0) _exit(pid_of_child() == getpid() ? 0 : 1);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

TEST(Confinement, AChildThatLibcDidNotMakeIsNotKnown) {
  in_a_child([] {
    confine(false);
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) syscall(SYS_exit_group, pid_of_child() == 0 ? 0 : 1);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

TEST(Confinement, WhatCannotBeAskedForIsCounted) {
  testing::enter_world();
  const uint64_t before = testing::losses(FATHOM_SOURCE_POSIX, FATHOM_LOSS_UNASKED);
  in_a_child([] {
    confine(false);
    EXPECT_EQ(use_begins(200), 0U);
  });
  EXPECT_EQ(testing::losses(FATHOM_SOURCE_POSIX, FATHOM_LOSS_UNASKED), before + 1);
}

TEST(Confinement, OpenFilesAreNamedBeforehand) {
  in_a_child([] {
    descriptor_closes(0);
    confine(false);
    EXPECT_NE(use_begins(0), 0U);
  });
}

// Two ticks are a nanosecond, within some hundredths. A busy machine wakes us late and interrupts
// us anywhere, and its coarse clock may stand still meanwhile: it catches up, and is never ahead.
void expect_ticks_to_follow_time() {
  constexpr uint64_t kEnoughNs = 50'000'000;
  constexpr uint64_t kTooLongNs = 20'000'000'000;
  const uint64_t begin = now_ns();
  const uint64_t first = tick();
  while (tick() - first < 2 * kEnoughNs && now_ns() - begin < kTooLongNs) usleep(5'000);
  const auto ticks = static_cast<double>(tick() - first);
  const auto elapsed = static_cast<double>(now_ns() - begin);
  EXPECT_GE(ticks, 2.0 * kEnoughNs);
  EXPECT_LE(ticks, 2.1 * elapsed + 20e6);
}

TEST(Confinement, TimeGoesOnWithoutTheCounter) {
  in_a_child([] {
    guest.run->start_tick = tick() - 1'000'000'000;
    guest.run->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC) - 500'000'000;
    const uint64_t before = tick();
    lose_counter();
    EXPECT_TRUE(clocks_are_restricted);
    expect_ticks_to_follow_time();
    EXPECT_GE(tick(), before);
    confine(false);
    expect_ticks_to_follow_time();  // by the coarse clock
  });
}

unsigned filters_here() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Seccomp_filters:"))
      return static_cast<unsigned>(std::stoul(line.substr(line.find(':') + 1)));
  }
  return 0;
}

// Who started us tells how many filters it knew of: one more is the program's own.
TEST(Confinement, FiltersThatNobodyTellsOfAreThePrograms) {
  in_a_child([] {
    EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    const sock_fprog program{1, &allow};
    for (int i = 0; i < 12; i++) {
      if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return;  // not on this machine
    }
    const unsigned count = filters_here();
    if (count == 0) return;  // an older kernel, or one that is emulated
    for (const int more : {-1, 0, 1}) {
      const std::string known = std::to_string(static_cast<int>(count) + more);
      setenv("FATHOM_FILTERS", known.c_str(), 1);
      EXPECT_EQ(starts_confined(), more < 0) << known;
    }
    unsetenv("FATHOM_FILTERS");
    EXPECT_TRUE(starts_confined());
  });
}

}  // namespace
}  // namespace fathom::guest
