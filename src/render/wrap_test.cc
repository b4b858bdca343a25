// SPDX-License-Identifier: MIT
#include "render/wrap.h"

#include <gtest/gtest.h>

#include "render/render.h"

namespace fathom::render {
namespace {

TEST(Wrapped, BreaksAtBlanksWithinTheWidth) {
  EXPECT_EQ(wrapped("read larger blocks, or many at once", 4, 24),
            "    read larger blocks,\n    or many at once\n");
  EXPECT_EQ(wrapped("read larger blocks,", 4, 24), "    read larger blocks,\n")
      << "all of the width";
}

TEST(Wrapped, CountsColumnsAndNotBytes) {
  EXPECT_EQ(wrapped("ééééé ééééé ééééé ééééé", 0, 23), "ééééé ééééé ééééé ééééé\n");
  EXPECT_EQ(wrapped("読読読読読 読読読読読 読", 0, 21), "読読読読読 読読読読読\n読\n");
}

TEST(Wrapped, ALongWordHasALineOfItsOwn) {
  EXPECT_EQ(wrapped("worst file: /a/very/long/path/that/no/line/holds now", 2, 22),
            "  worst file:\n  /a/very/long/path/that/no/line/holds\n  now\n");
}

TEST(Wrapped, WithoutALimitItIsOneLine) {
  EXPECT_EQ(wrapped("one two", 2, kNoLimit), "  one two\n");
  EXPECT_EQ(wrapped("one two", 2, 5), "  one two\n");
}

}  // namespace
}  // namespace fathom::render
