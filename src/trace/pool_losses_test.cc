// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "trace/spool.h"

namespace fathom::trace {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(PoolLosses, FurtherReasonsComeBack) {
  fathom_pool_header header{};
  header.losses[FATHOM_SOURCE_POSIX][FATHOM_LOSS_NO_ROOM] = 3;
  *fathom_loss_counter(&header, FATHOM_SOURCE_POSIX, FATHOM_LOSS_CONFINED) = 5;
  EXPECT_TRUE(PoolLosses::any(header));
  PoolLosses losses;
  losses.add(bytes_of(PoolLosses::encode(header)));
  ASSERT_EQ(losses.losses().size(), 2U);
  EXPECT_EQ(losses.losses()[1].count, 5);
  EXPECT_EQ(losses.losses()[1].reason, "no room left inside a sandbox");
}

TEST(PoolLosses, OlderLogsHaveTheFirstReasonsAlone) {
  fathom_pool_header header{};
  header.losses[FATHOM_SOURCE_APP][FATHOM_LOSS_NESTED] = 2;
  PoolLosses losses;
  losses.add(bytes_of(PoolLosses::encode(header).substr(0, sizeof header.losses)));
  ASSERT_EQ(losses.losses().size(), 1U);
  EXPECT_EQ(losses.losses()[0].count, 2);
}

}  // namespace
}  // namespace fathom::trace
