// SPDX-License-Identifier: MIT
// Which events are counted; tests/e2e/test_counts.py holds the counts against what a program did.
#include "guest/region_counts.h"

#include <gtest/gtest.h>

namespace fathom::guest {
namespace {

TEST(RegionCounts, NamesThatNobodyKnowsAreNobodys) {
  choose_region_events("nonsense,task-clock,,page-faultsx,cs,page");
  EXPECT_EQ(region_events, 2);
  choose_region_events("faults,faults,faults,faults,faults,faults,faults,faults");
  EXPECT_EQ(region_events, kMostRegionEvents);
  region_events = 0;
}

}  // namespace
}  // namespace fathom::guest
