// SPDX-License-Identifier: MIT
#include "session/stream/look_pace.h"

#include <gtest/gtest.h>

#include <ctime>

namespace fathom::session {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(LookPaceTest, AsOftenAsItIsWantedWhereItCostsNothing) {
  const LookPace pace;
  const timespec nap{0, 20 * kMs};  // costs nothing, too
  ::nanosleep(&nap, nullptr);
  EXPECT_EQ(pace.rest_ns(100 * kMs), 100 * kMs);
}

TEST(LookPaceTest, ATenthOfACoreAtMost) {
  const LookPace pace;
  for (const std::int64_t begin = now_thread_cpu_ns(); now_thread_cpu_ns() < begin + 3 * kMs;) {
  }
  EXPECT_GE(pace.rest_ns(10 * kMs), 27 * kMs);
}

}  // namespace
}  // namespace fathom::session
