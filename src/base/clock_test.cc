// SPDX-License-Identifier: MIT
#include "base/clock.h"

#include <gtest/gtest.h>

#include <ctime>

#include "base/ids.h"

namespace fathom {
namespace {

TEST(Clock, MonotonicNeverGoesBack) {
  std::int64_t last = now_monotonic_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = now_monotonic_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, RealtimeIsTheDate) {
  const std::time_t before = std::time(nullptr);
  const std::int64_t now = now_realtime_ns() / 1'000'000'000;
  EXPECT_LE(before - 1, now);
  EXPECT_LE(now, std::time(nullptr) + 1);
}

TEST(Ids, AreLongAndDiffer) {
  const std::string id = random_id();
  EXPECT_EQ(id.size(), 32U);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(id, random_id());
}

}  // namespace
}  // namespace fathom
