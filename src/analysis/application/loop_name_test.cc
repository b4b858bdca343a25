// SPDX-License-Identifier: MIT
#include "analysis/application/loop_name.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(LoopName, HasAKindAndALine) {
  for (const char* name : {"work.<for 72>", "A.b.<while 3>", "a.<locals>.b.<async for 9>",
                           "a.<locals>.<genexpr>.<comprehension 4>"})
    EXPECT_TRUE(is_loop_name(name)) << name;
}

TEST(LoopName, FunctionsWithoutANameAreNoLoops) {
  for (const char* name : {"", "work", "a.<locals>.<genexpr>", "a.<lambda>", "<module>",
                           "format <for>", "a.<for 3> b"})
    EXPECT_FALSE(is_loop_name(name)) << name;
}

}  // namespace
}  // namespace fathom::analysis
