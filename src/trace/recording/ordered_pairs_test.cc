// SPDX-License-Identifier: MIT
#include "trace/recording/ordered_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace fathom::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs pairs(const std::vector<Candidate>& candidates) {
  Pairs found;
  for (const Candidate& one : ordered_pairs(candidates)) found.emplace_back(one.left, one.right);
  return found;
}

TEST(OrderedPairs, OfNothingThereAreNone) { EXPECT_THAT(pairs({}), IsEmpty()); }

TEST(OrderedPairs, TheLargerWeightDecidesBetweenAsManyPairs) {
  EXPECT_THAT(pairs({{0, 0, 3}, {0, 1, 5}}), ElementsAre(Pair(0, 1)));
  EXPECT_THAT(pairs({{0, 0, 5}, {1, 0, 3}}), ElementsAre(Pair(0, 0)));
}

TEST(OrderedPairs, MorePairsAreBetterThanAHeavyOne) {
  EXPECT_THAT(pairs({{0, 0, 1}, {0, 1, 100}, {1, 1, 1}}), ElementsAre(Pair(0, 0), Pair(1, 1)));
}

TEST(OrderedPairs, PairsDoNotCross) {
  EXPECT_THAT(pairs({{0, 1, 4}, {1, 0, 9}}), ElementsAre(Pair(1, 0)));
}

// Every choice, tried one by one.
std::pair<std::int64_t, std::int64_t> best_of_all(const std::vector<Candidate>& candidates,
                                                  std::size_t from, std::size_t left,
                                                  std::size_t right) {
  std::pair<std::int64_t, std::int64_t> best{0, 0};
  for (std::size_t i = from; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    if (one.left < left || one.right < right) continue;
    auto rest = best_of_all(candidates, i + 1, one.left + 1, one.right + 1);
    best = std::max(best, {rest.first + 1, rest.second + one.weight});
  }
  return best;
}

TEST(OrderedPairs, NoChoiceIsBetter) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Candidate> candidates;
    for (std::size_t left = 0; left < 4; ++left) {
      for (std::size_t right = 0; right < 4; ++right) {
        if (random() % 2 == 0) candidates.push_back({left, right, int(random() % 9) - 2});
      }
    }
    std::int64_t weight = 0;
    const std::vector<Candidate> found = ordered_pairs(candidates);
    for (const Candidate& one : found) weight += one.weight;
    EXPECT_EQ(std::pair(std::int64_t(found.size()), weight), best_of_all(candidates, 0, 0, 0));
  }
}

}  // namespace
}  // namespace fathom::trace
