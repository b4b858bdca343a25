// SPDX-License-Identifier: MIT
#include "analysis/stack_tree.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(StackTree, SharesNodesOfStacksThatBeginAlike) {
  StackTree tree;
  const std::uint32_t main = tree.child(StackTree::kRoot, 7);
  const std::uint32_t read = tree.child(main, 8);
  EXPECT_EQ(tree.child(tree.child(StackTree::kRoot, 7), 8), read);
  EXPECT_NE(tree.child(StackTree::kRoot, 8), read);  // the same function, called by nobody
  EXPECT_EQ(tree.size(), 4U);
  EXPECT_EQ(tree.path(read), (std::vector<std::uint32_t>{8, 7}));
}

TEST(StackTree, TotalsHoldWhatWasCalled) {
  StackSums sums;
  const std::uint32_t main = sums.tree.child(StackTree::kRoot, 1);
  const std::uint32_t left = sums.tree.child(main, 2);
  const std::uint32_t right = sums.tree.child(main, 3);
  sums.add(left, 2, 20);
  sums.add(main, 1, 5);
  const std::uint32_t later = sums.tree.child(right, 2);  // without a sum of its own
  sums.add(StackTree::kRoot, 1, 100);
  const std::vector<StackSums::Sum> totals = sums.totals();
  ASSERT_EQ(totals.size(), 5U);
  EXPECT_EQ(totals[StackTree::kRoot].amount, 125);
  EXPECT_EQ(totals[StackTree::kRoot].count, 4);
  EXPECT_EQ(totals[main].amount, 25);
  EXPECT_EQ(totals[left].count, 2);
  EXPECT_EQ(totals[later].amount, 0);
}

}  // namespace
}  // namespace fathom::analysis
