// SPDX-License-Identifier: MIT
#include "sources/perf/joined_stack.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fathom::sources {
namespace {

UnwoundStack stack_of(std::initializer_list<std::uint64_t> addresses) {
  UnwoundStack stack;
  for (const std::uint64_t address : addresses) stack.push_back({address, !stack.empty()});
  return stack;
}

std::vector<std::uint64_t> joined(UnwoundStack by_tables, const UnwoundStack& by_pointers) {
  join_stacks(by_tables, by_pointers);
  std::vector<std::uint64_t> addresses;
  for (const symbols::UnwoundFrame& frame : by_tables) addresses.push_back(frame.address);
  return addresses;
}

using Addresses = std::vector<std::uint64_t>;

TEST(JoinedStack, PointersGoOnWhereTheCopyOfTheStackEnds) {
  EXPECT_EQ(joined(stack_of({1, 2, 3}), stack_of({1, 3, 4, 5})), (Addresses{1, 2, 3, 4, 5}));
}

TEST(JoinedStack, TheLongerOneWhereTheyDoNotMeet) {
  EXPECT_EQ(joined(stack_of({1, 2}), stack_of({1, 8, 9})), (Addresses{1, 8, 9}));
  EXPECT_EQ(joined(stack_of({1, 2, 3}), stack_of({1, 9})), (Addresses{1, 2, 3}));
  EXPECT_EQ(joined({}, stack_of({1})), (Addresses{1}));
  EXPECT_EQ(joined(stack_of({1}), {}), (Addresses{1}));
}

TEST(JoinedStack, RecursionHasAsManyFramesAsWereSeen) {
  EXPECT_EQ(joined(stack_of({1, 7, 7, 7, 7}), stack_of({1, 7, 7})), (Addresses{1, 7, 7, 7, 7}));
  EXPECT_EQ(joined(stack_of({1, 7}), stack_of({1, 7, 7, 7, 9})), (Addresses{1, 7, 7, 7, 9}));
}

}  // namespace
}  // namespace fathom::sources
