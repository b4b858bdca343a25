// SPDX-License-Identifier: MIT
#include "base/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/files.h"

namespace fathom {
namespace {

struct Terminal {
  Fd outside;  // what a person would see
  Fd inside;   // what the program writes to
};

// Invalid where there are no terminals to be had: a container without /dev/pts.
Terminal open_terminal(unsigned short width) {
  int outside = -1;
  int inside = -1;
  const winsize size{.ws_row = 24, .ws_col = width, .ws_xpixel = 0, .ws_ypixel = 0};
  if (openpty(&outside, &inside, nullptr, nullptr, &size) != 0) return {};
  EXPECT_EQ(fcntl(outside, F_SETFL, O_NONBLOCK), 0);
  return {Fd(outside), Fd(inside)};
}

std::string seen(const Terminal& terminal) {
  std::array<char, 1024> buffer{};
  const ssize_t got = read(terminal.outside.get(), buffer.data(), buffer.size());
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : "";
}

TEST(Progress, WritesOverOneLineAndTakesItAway) {
  const Terminal terminal = open_terminal(80);
  if (!terminal.inside.valid()) GTEST_SKIP() << "no pseudo-terminal here";
  {
    Progress progress(terminal.inside.get());
    ASSERT_TRUE(progress.enabled());
    EXPECT_TRUE(progress.due());
    progress.show("1 event");
    EXPECT_EQ(seen(terminal), "\r\033[K1 event");
  }
  EXPECT_EQ(seen(terminal), "\r\033[K");
}

TEST(Progress, CutsToTheWidthBetweenCharacters) {
  const Terminal terminal = open_terminal(6);
  if (!terminal.inside.valid()) GTEST_SKIP() << "no pseudo-terminal here";
  Progress progress(terminal.inside.get());
  progress.show("naïveté");
  EXPECT_EQ(seen(terminal), "\r\033[Knaïve");
}

TEST(Progress, SaysNothingToAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0);
  const Fd out(ends[0]);
  const Fd in(ends[1]);
  {
    Progress progress(in.get());
    EXPECT_FALSE(progress.enabled());
    EXPECT_FALSE(progress.due());
    progress.show("text");
  }
  char byte = 0;
  EXPECT_EQ(read(out.get(), &byte, 1), -1);
}

}  // namespace
}  // namespace fathom
