// SPDX-License-Identifier: MIT
#include "base/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace fathom {
namespace {

TEST(Dice, OneSeedGivesOneSequence) {
  Dice dice(7), same(7), other(8);
  std::vector<std::size_t> first, second, third;
  for (int i = 0; i < 20; ++i) {
    first.push_back(dice.below(1000));
    second.push_back(same.below(1000));
    third.push_back(other.below(1000));
  }
  EXPECT_EQ(first, second);
  EXPECT_NE(first, third);
}

TEST(Dice, EachFaceIsAsLikely) {
  Dice dice(1);
  std::array<int, 6> seen{};
  for (int i = 0; i < 60'000; ++i) ++seen[dice.below(6)];
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Dice, ShufflingKeepsAll) {
  Dice dice(3);
  std::vector<int> items = {1, 2, 3, 4, 5, 6, 7, 8};
  dice.shuffle(std::span(items));
  EXPECT_FALSE(std::ranges::is_sorted(items));
  std::ranges::sort(items);
  EXPECT_EQ(items, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace fathom
