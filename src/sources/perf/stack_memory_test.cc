// SPDX-License-Identifier: MIT
#include "sources/perf/stack_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fathom::sources {
namespace {

using trace::kNull;

class StackMemoryTest : public ::testing::Test {
 protected:
  // Functions of these names, outermost first.
  std::int64_t stack(std::initializer_list<const char*> functions) {
    std::vector<trace::Frame> frames;
    for (const char* function : functions) frames.emplace_back().function = strings_.code(function);
    return memory_.stack(frames);
  }
  // As "a,b" for each stack.
  std::vector<std::string> told() {
    std::vector<std::string> stacks;
    for (const trace::FrameRow& row : memory_.take_new().rows) {
      const std::string name(strings_.view(row.frame.function));
      if (row.depth == 0) stacks.emplace_back();
      stacks.back() += (row.depth == 0 ? "" : ",") + name;
    }
    return stacks;
  }

  trace::Strings strings_;
  StackMemory memory_{strings_, {.stacks = 2, .leaves = 1, .texts = 8, .text_bytes = 12}};
};

using Stacks = std::vector<std::string>;

TEST_F(StackMemoryTest, AStackIsToldOnce) {
  const std::int64_t first = stack({"main", "f"});
  EXPECT_EQ(stack({"main", "f"}), first);
  EXPECT_NE(stack({"main", "g"}), first);
  EXPECT_EQ(stack({}), kNull);
  EXPECT_EQ(told(), (Stacks{"main,f", "main,g"}));
  EXPECT_EQ(stack({"main", "f"}), first);
  EXPECT_EQ(told(), Stacks{});
  EXPECT_EQ(memory_.take_shortened(), 0U);
}

TEST_F(StackMemoryTest, StacksForWhichThereIsNoRoomLoseTheirCallers) {
  const std::int64_t first = stack({"main", "f"});
  stack({"main", "g"});
  (void)told();
  const std::int64_t leaf = stack({"main", "again", "f"});
  EXPECT_EQ(stack({"main", "again", "again", "f"}), leaf) << "the function that ran is known";
  EXPECT_EQ(told(), Stacks{"f"});
  EXPECT_EQ(stack({"main", "f"}), first) << "those that are remembered stay whole";
  EXPECT_EQ(memory_.take_shortened(), 2U);
  EXPECT_EQ(stack({"main", "again", "g"}), kNull) << "no room for single functions, either";
  EXPECT_EQ(stack({"main", "again", "f"}), leaf);
  EXPECT_EQ(told(), Stacks{});
  EXPECT_EQ(memory_.take_shortened(), 2U);
  EXPECT_EQ(memory_.take_shortened(), 0U);
}

TEST_F(StackMemoryTest, AnotherRecordingHasRoomAgain) {
  stack({"a"});
  stack({"b"});
  memory_.begin_anew();
  EXPECT_EQ(told(), Stacks{}) << "the other one has nobody to tell them to";
  stack({"c", "d"});
  EXPECT_EQ(told(), Stacks{"c,d"});
  EXPECT_EQ(memory_.take_shortened(), 0U);
}

TEST_F(StackMemoryTest, TextsForWhichThereIsNoRoomAreUnknown) {
  const std::uint32_t known = memory_.text("12345678");
  EXPECT_EQ(strings_.view(memory_.text("1234")), "1234") << "12 bytes, as many as may be";
  EXPECT_EQ(strings_.view(memory_.text("x")), "unknown");
  EXPECT_EQ(memory_.text("12345678"), known);
  EXPECT_EQ(memory_.text_or_null(""), trace::kNoString);
  EXPECT_EQ(memory_.take_nameless(), 1U);
  EXPECT_EQ(memory_.take_nameless(), 0U);
}

TEST_F(StackMemoryTest, SoAreTextsOfWhichThereAreTooMany) {
  for (int i = 0; strings_.size() < 8; ++i) EXPECT_NE(memory_.text(std::to_string(i)), 0U);
  EXPECT_EQ(memory_.take_nameless(), 0U);
  EXPECT_EQ(strings_.view(memory_.text("x")), "unknown");
  EXPECT_EQ(memory_.take_nameless(), 1U);
}

}  // namespace
}  // namespace fathom::sources
