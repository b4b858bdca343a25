// SPDX-License-Identifier: MIT
#include "base/hex.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Hex, TwoDigitsForEveryByte) {
  EXPECT_EQ(to_hex(std::string_view("\x00\x0f\xa0\xff", 4)), "000fa0ff");
  EXPECT_EQ(to_hex(std::string_view()), "");
}

}  // namespace
}  // namespace fathom
