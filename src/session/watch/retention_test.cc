// SPDX-License-Identifier: MIT
#include "session/watch/retention.h"

#include <gtest/gtest.h>

namespace fathom::session {
namespace {

TEST(Retention, TheOldestGoFirst) {
  const std::vector<KeptRecording> three = {{"a", 10, 100}, {"b", 20, 200}, {"c", 30, 300}};
  struct Case {
    Retention limits;
    std::size_t dropped;
  };
  const Case cases[] = {
      {{}, 0},
      {{.count = 3}, 0},
      {{.count = 1}, 2},
      {{.bytes = 60}, 0},
      {{.bytes = 59}, 1},
      {{.bytes = 1}, 3},
      {{.age_ns = 1000}, 0},
      {{.age_ns = 150}, 2},
      {{.bytes = 59, .age_ns = 1000, .count = 1}, 2},
  };
  for (const Case& c : cases) {
    const std::vector<KeptRecording> dropped = to_drop(three, c.limits, 400);
    ASSERT_EQ(dropped.size(), c.dropped)
        << c.limits.bytes << " " << c.limits.age_ns << " " << c.limits.count;
    if (!dropped.empty()) {
      EXPECT_EQ(dropped[0].path, "a");
    }
  }
}

}  // namespace
}  // namespace fathom::session
