// SPDX-License-Identifier: MIT
#include "session/event_options.h"

#include <gtest/gtest.h>

namespace fathom::session {
namespace {

TEST(EventOptions, WhatAThreadReadsOfItselfIsCounted) {
  const RegionEvents events = region_events("task-clock,page-faults,{cs,minor-faults}").value();
  EXPECT_EQ(events.variable, "FATHOM_REGION_EVENTS=task-clock,page-faults,cs,minor-faults");
  EXPECT_TRUE(events.refused.empty());
  EXPECT_EQ(region_events("").value().variable, "");
}

TEST(EventOptions, WhatCannotBeCountedHasAReason) {
  const RegionEvents events = region_events("cpu-migrations,page-faults:u,faults").value();
  EXPECT_EQ(events.variable, "FATHOM_REGION_EVENTS=faults");
  ASSERT_EQ(events.refused.size(), 2U);
  EXPECT_EQ(events.refused[0].find("cpu-migrations: a thread cannot read it of itself"), 0U);
}

TEST(EventOptions, UnknownNamesAreUsageErrors) {
  const Result<RegionEvents> wrong = region_events("page-fautls");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::kUsage);
  EXPECT_NE((wrong.error().message + wrong.error().hint).find("page-faults"), std::string::npos);
  EXPECT_FALSE(region_events("cs,cs,cs,cs,cs,cs,cs,cs,cs"));
}

}  // namespace
}  // namespace fathom::session
