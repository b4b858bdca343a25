// SPDX-License-Identifier: MIT
#include "guest/confinement.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "guest/descriptors.h"
#include "guest/syscalls.h"
#include "guest/testing/world.h"

namespace fathom::guest {
namespace {

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

TEST(Confinement, TimeGoesOnWithoutTheCounter) {
  in_a_child([] {
    guest.run->start_tick = tick() - 1'000'000'000;
    guest.run->start_monotonic_ns = clock_ns(CLOCK_MONOTONIC) - 500'000'000;
    const uint64_t before = tick();
    lose_counter();
    const uint64_t first = tick();
    usleep(50'000);
    const uint64_t second = tick();
    EXPECT_GE(first, before);
    EXPECT_NEAR(static_cast<double>(second - first), 100e6, 60e6) << "two ticks a nanosecond";
    confine(false);
    usleep(50'000);
    EXPECT_NEAR(static_cast<double>(tick() - second), 100e6, 60e6) << "by the coarse clock";
  });
}

}  // namespace
}  // namespace fathom::guest
