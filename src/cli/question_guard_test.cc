// SPDX-License-Identifier: MIT
#include "cli/question_guard.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

TEST(QuestionLimits, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(timeout_of("30s").value(), 30'000'000'000);
  EXPECT_EQ(timeout_of("5m").value(), 300'000'000'000);
  EXPECT_EQ(timeout_of("1h").value(), 3'600'000'000'000);
}

TEST(QuestionLimits, WhatIsNoLimitIsRefused) {
  for (const char* text : {"", "0", "0s", "-1s", "soon", "5 parsecs", "inf", "nan"}) {
    const auto timeout = timeout_of(text);
    ASSERT_FALSE(timeout) << text;
    EXPECT_EQ(timeout.error().code, Code::kUsage);
  }
}

}  // namespace
}  // namespace fathom::cli
