// SPDX-License-Identifier: MIT
#include "trace/rows/strings.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::trace {
namespace {

TEST(Strings, TheSameTextHasTheSameCode) {
  Strings strings;
  const std::uint32_t code = strings.code("read");
  EXPECT_EQ(strings.code(std::string("re") + "ad"), code);
  EXPECT_NE(strings.code("write"), code);
  EXPECT_NE(strings.code(""), code);
  EXPECT_EQ(strings.view(code), "read");
}

// The table grows several times meanwhile: what was there before is still found.
TEST(Strings, CodesStayWhenThereAreMore) {
  constexpr std::uint32_t kMany = 1000;
  Strings strings;
  for (std::uint32_t i = 0; i < kMany; i++) ASSERT_EQ(strings.code(std::to_string(i)), i);
  for (std::uint32_t i = 0; i < kMany; i++) {
    ASSERT_EQ(strings.code(std::to_string(i)), i);
    ASSERT_EQ(strings.find(std::to_string(i)), i);
    ASSERT_EQ(strings.view(i), std::to_string(i));
  }
  EXPECT_EQ(strings.find("none"), kNoString);
  EXPECT_EQ(strings.size(), kMany);
}

}  // namespace
}  // namespace fathom::trace
