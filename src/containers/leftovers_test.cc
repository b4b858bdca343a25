// SPDX-License-Identifier: MIT
#include "containers/leftovers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace fathom::containers {
namespace {

// A daemon that nobody waits for: it has a session and no parent of ours. Its number.
pid_t start_daemon() {
  std::array<int, 2> line{};
  if (::pipe(line.data()) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      ::signal(SIGTERM, SIG_IGN);
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
      ::_exit(1);
    }
    (void)!::write(line[1], &grandchild, sizeof grandchild);
    ::_exit(0);
  }
  pid_t found = 0;
  (void)!::read(line[0], &found, sizeof found);
  ::waitpid(child, nullptr, 0);
  for (const int end : line) ::close(end);
  return found;
}

TEST(Leftovers, ADaemonIsFoundAndEnded) {
  Leftovers leftovers;
  const pid_t daemon = start_daemon();
  ASSERT_GT(daemon, 1);
  EXPECT_TRUE(descendants_of(::getpid()).contains(daemon));
  const Leftovers::Counts counts = leftovers.end_all();
  EXPECT_EQ(counts.ended, 1U);
  EXPECT_EQ(counts.alive, 0U);
  EXPECT_NE(::kill(daemon, 0), 0);
}

TEST(Leftovers, WhatWasThereBeforeStays) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  Leftovers leftovers;
  EXPECT_EQ(leftovers.end_all().ended, 0U);
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace fathom::containers
