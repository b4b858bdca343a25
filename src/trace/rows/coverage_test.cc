// SPDX-License-Identifier: MIT
#include "trace/rows/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fathom::trace {
namespace {

using Span = Coverage::Span;

Span full(std::int64_t begin, std::int64_t end) { return {begin, end, end - begin}; }

TEST(Coverage, IsTheUnionOfWhatOneThreadDid) {
  Coverage coverage;
  coverage.append(10, 20);
  coverage.append(20, 25);  // touches
  coverage.append(40, 50);
  coverage.append(42, 60);  // reaches in, as a clock that was corrected would have it
  EXPECT_EQ(coverage.spans(), (std::vector<Span>{full(10, 25), full(40, 60)}));
  coverage.append(5, 70);  // the call around all of them ends last
  EXPECT_EQ(coverage.spans(), (std::vector<Span>{full(5, 70)}));
  EXPECT_EQ(coverage.total(), 65);
}

TEST(Coverage, WhatTwoThreadsDoAtOnceCountsOnce) {
  Coverage one;
  one.append(0, 10);
  one.append(30, 40);
  Coverage two;
  two.append(5, 35);
  two.append(100, 110);
  one.add(two);
  EXPECT_EQ(one.spans(), (std::vector<Span>{full(0, 40), full(100, 110)}));
  one.add(full(50, 60));
  EXPECT_EQ(one.total(), 60);
}

TEST(Coverage, EqualsCountingMomentsInAnyOrder) {
  std::mt19937 random(7);
  constexpr std::int64_t kMoments = 5000;
  std::vector<bool> busy(kMoments);
  Coverage coverage;
  for (int thread = 0; thread < 9; thread++) {
    Coverage own;
    std::int64_t at = 0;
    while (true) {
      const std::int64_t begin = at + random() % 60;
      const std::int64_t end = begin + random() % 30;
      if (end >= kMoments) break;
      own.append(begin, end);
      std::fill(busy.begin() + begin, busy.begin() + end, true);
      at = end;
    }
    coverage.add(own);
  }
  EXPECT_EQ(coverage.total(), std::count(busy.begin(), busy.end(), true));
}

TEST(Coverage, ManySpansOfOneThreadStayExactInLittleMemory) {
  Coverage coverage;
  constexpr std::int64_t kCalls = 1'000'000;
  for (std::int64_t i = 0; i < kCalls; i++) coverage.append(i * 1000, i * 1000 + 300);
  EXPECT_EQ(coverage.total(), kCalls * 300);
  EXPECT_LE(coverage.spans().size(), Coverage::kMost);
}

TEST(Coverage, JoinedSpansThatOverlapAreTakenAsIndependent) {
  Coverage one;
  Coverage two;
  constexpr std::int64_t kCalls = 1'000'000;
  std::mt19937 random(11);
  for (std::int64_t i = 0; i < kCalls; i++) {
    one.append(i * 1000, i * 1000 + 400);
    const std::int64_t begin = i * 1000 + static_cast<std::int64_t>(random() % 500);
    two.append(begin, begin + 500);
  }
  one.add(two);
  const auto share = static_cast<double>(one.total()) / (kCalls * 1000.0);
  EXPECT_NEAR(share, 1 - (1 - 0.4) * (1 - 0.5), 0.01);
  EXPECT_LE(one.spans().size(), Coverage::kMost);
}

TEST(Coverage, ASpanAroundAJoinedOneCoversItWhole) {
  Coverage many;
  for (std::int64_t i = 0; i < 100'000; i++) many.append(i * 1000, i * 1000 + 10);
  Coverage around;
  around.append(0, 100'000'000);
  many.add(around);
  EXPECT_EQ(many.total(), 100'000'000);
}

}  // namespace
}  // namespace fathom::trace
