// SPDX-License-Identifier: MIT
#include "base/brackets.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Brackets, CommasInThem) {
  using Words = std::vector<std::string>;
  const auto whole = [](const Words& texts) { return join_in_brackets(texts); };
  EXPECT_EQ(whole({"a:f(int", " char)", "b"}), (Words{"a:f(int, char)", "b"}));
  EXPECT_EQ(whole({"a:x{1", "2}$", "c"}), (Words{"a:x{1,2}$", "c"}));
  EXPECT_EQ(whole({"a:x(", "b", "c"}), (Words{"a:x(", "b", "c"})) << "nothing closes it";
  EXPECT_EQ(whole({"a:x\\(", "b:f(int)"}), (Words{"a:x\\(", "b:f(int)"}));
  EXPECT_EQ(whole({}), (Words{}));
}

}  // namespace
}  // namespace fathom
