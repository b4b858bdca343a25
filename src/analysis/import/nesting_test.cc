// SPDX-License-Identifier: MIT
#include "analysis/import/nesting.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::analysis {
namespace {

struct Span {
  std::int64_t begin;
  std::int64_t dur;
  NestingRank rank = NestingRank::kPosix;
};

std::vector<std::int32_t> depths(const std::vector<Span>& spans) {
  Nesting nesting;
  for (const Span& span : spans) nesting.add(span.begin, span.dur, span.rank);
  nesting.finish();
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < spans.size(); ++i) result.push_back(nesting.next());
  return result;
}

using Depths = std::vector<std::int32_t>;
constexpr NestingRank kApp = NestingRank::kApp;
constexpr NestingRank kStdio = NestingRank::kStdio;

TEST(Nesting, InnerCallsAreWrittenFirst) {
  EXPECT_EQ(depths({{10, 5}, {20, 5}, {5, 30, kApp}, {0, 100, kApp}, {200, 1}}),
            (Depths{2, 2, 1, 0, 0}));
}

TEST(Nesting, BehindEachOtherIsNotInside) {
  EXPECT_EQ(depths({{0, 10}, {10, 10}, {20, 0}}), (Depths{0, 0, 0}));
}

TEST(Nesting, EqualSpansNestInTheOrderOfTheirEnds) {
  EXPECT_EQ(depths({{0, 10}, {0, 10, kStdio}, {0, 10, kApp}}), (Depths{2, 1, 0}));
}

TEST(Nesting, ShortCallsInOneMicrosecond) {
  // Two calls of libc behind each other, and the same inside a region.
  EXPECT_EQ(depths({{100, 0}, {100, 5}}), (Depths{0, 0}));
  EXPECT_EQ(depths({{100, 0}, {100, 5, kStdio}}), (Depths{1, 0}));
  EXPECT_EQ(depths({{100, 0}, {100, 5}, {100, 9, kApp}}), (Depths{1, 1, 0}));
}

TEST(Nesting, MoreAskedThanGiven) {
  Nesting nesting;
  nesting.finish();
  EXPECT_EQ(nesting.next(), 0);
}

}  // namespace
}  // namespace fathom::analysis
