// SPDX-License-Identifier: MIT
#include "symbols/stack_use.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fathom::symbols {
namespace {

TEST(StackUse, OfThisProgram) {
  const Result<StackFacts> facts = stack_facts_of("/proc/self/exe");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->use, StackUse::kUnwinds) << facts->why;
  EXPECT_TRUE(facts->is_program);
  EXPECT_NE(std::ranges::find(facts->needs, "libc.so.6"), facts->needs.end());
}

TEST(StackUse, OfALibrary) {
  const Result<StackFacts> facts = stack_facts_of("/lib/x86_64-linux-gnu/libc.so.6");
  if (!facts) GTEST_SKIP() << facts.error().message;
  EXPECT_EQ(facts->name, "libc.so.6");
  EXPECT_FALSE(facts->is_program);
}

TEST(StackUse, RefusesWhatIsNoProgram) {
  EXPECT_EQ(stack_facts_of("/no/such/file").error().code, Code::kNotFound);
  EXPECT_EQ(stack_facts_of("/etc/passwd").error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace fathom::symbols
