// SPDX-License-Identifier: MIT
#include "analysis/live/latest_counters.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(LatestCounters, TheLatestMomentDecides) {
  LatestCounters counters;
  counters.add("a", {.ts = 5, .value = 1});
  counters.add("a", {.ts = 9, .value = 2});
  counters.add("a", {.ts = 7, .value = 3});
  counters.add("a", {.ts = 9, .value = 4});
  ASSERT_EQ(counters.values().size(), 1U);
  EXPECT_EQ(counters.values().at("a").value, 4) << "of two at once, the one that came later";
}

TEST(LatestCounters, NamesWithoutRoomAreCounted) {
  LatestCounters counters;
  for (int i = 0; i < 5000; i++) counters.add(std::to_string(i), {.value = 1});
  EXPECT_EQ(counters.values().size(), LatestCounters::kMostNames);
  EXPECT_EQ(counters.left_out(), 5000 - LatestCounters::kMostNames);
  counters.add("0", {.ts = 1, .value = 2});
  EXPECT_EQ(counters.values().at("0").value, 2) << "those that are there go on";
  counters.add(std::string(LatestCounters::kLongestName + 1, 'x'), {}, 7);
  EXPECT_EQ(counters.left_out(), 5000 - LatestCounters::kMostNames + 7);
  LatestCounters other;
  other.add(std::string(LatestCounters::kLongestName, 'x'), {});
  other.add("", {});
  EXPECT_EQ(other.values().size(), 1U);
  EXPECT_EQ(other.left_out(), 0U);
}

}  // namespace
}  // namespace fathom::analysis
