// SPDX-License-Identifier: MIT
// No time is measured: a pause that went on would last longer than the test may.
#include "sources/resources/pause.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace fathom::sources {
namespace {

constexpr std::int64_t kForEver = std::int64_t{100'000} * 1'000'000'000;

TEST(Pause, IsOverWhenItsTimeIs) {
  Pause pause;
  pause.rest(1);
  pause.rest(0);
  pause.rest(-1);
}

TEST(Pause, IsEndedFromOutside) {
  Pause pause;
  pause.end();
  pause.rest(kForEver);
  const std::jthread other([&] { pause.end(); });
  pause.rest(kForEver);
}

TEST(Pause, EndsWithAProcess) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  Pause pause;
  pause.watch(child);
  EXPECT_TRUE(pause.watches());
  pause.rest(kForEver);
  EXPECT_FALSE(pause.watches()) << "it ends one pause";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  pause.watch(child);
  EXPECT_FALSE(pause.watches());
}

}  // namespace
}  // namespace fathom::sources
