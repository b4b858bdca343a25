// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "trace/spool/losses.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(PoolLosses, CountersOfAPoolThatIsGoneComeBack) {
  fathom_run_shared shared{};
  shared.losses[FATHOM_SOURCE_POSIX][FATHOM_LOSS_NO_ROOM] = 3;
  shared.losses[FATHOM_SOURCE_POSIX][FATHOM_LOSS_CONFINED] = 5;
  shared.runs = 7;
  PoolLosses counted;
  EXPECT_FALSE(counted.any());
  counted.add(shared);
  EXPECT_TRUE(counted.any());
  PoolLosses again;
  again.add(bytes_of(counted.encode()));
  ASSERT_EQ(again.losses().size(), 2U);
  EXPECT_EQ(again.losses()[1].count, 5);
  EXPECT_EQ(again.losses()[1].reason, "no room left inside a sandbox");
  EXPECT_EQ(again.dropped_events(), 3U);
  EXPECT_EQ(again.runs(), 7U);
}

TEST(PoolLosses, AFileSizeLimitSaysWhatToDo) {
  fathom_run_shared shared{};
  shared.losses[FATHOM_SOURCE_POSIX][FATHOM_LOSS_FILE_LIMIT] = 2;
  PoolLosses counted;
  counted.add(shared);
  ASSERT_EQ(counted.losses().size(), 1U);
  EXPECT_EQ(counted.losses()[0].reason,
            "the program's file size limit (ulimit -f) leaves no room for its events; raise it to "
            "1 MiB or more");
  EXPECT_TRUE(hides_events(counted.losses()[0]));
  EXPECT_EQ(counted.dropped_events(), 2U);
}

TEST(PoolLosses, WhatOnlyANameIsMissingOf) {
  EXPECT_FALSE(hides_events({"cpu", "stacks of waits that were not taken", 1}));
  EXPECT_FALSE(hides_events({"cpu", "frames of files without a build id that were replaced", 1}));
  EXPECT_FALSE(hides_events({"cpu", "names of frames for which there was no room", 1}));
  EXPECT_TRUE(hides_events({"cpu", "records for which the ring had no room", 1}));
  EXPECT_TRUE(hides_events({"cpu", "stacks of paper", 1}));  // words decide nothing
  EXPECT_FALSE(hides_events({"cpu", "stacks of waits that came too fast", 1}));  // of old versions
}

// Versions 1 and 2 counted the first eight reasons, in the header of the pool.
TEST(PoolLosses, OlderLogsAreRead) {
  fathom_pool_header header{};
  header.losses[FATHOM_SOURCE_APP][FATHOM_LOSS_NESTED] = 2;
  const std::string entry(reinterpret_cast<const char*>(&header.losses), sizeof header.losses);
  PoolLosses losses;
  losses.add(bytes_of(entry));
  ASSERT_EQ(losses.losses().size(), 1U);
  EXPECT_EQ(losses.losses()[0].count, 2);
}

// A library of a newer version counts for sources that this one has never heard of.
TEST(PoolLosses, OfSourcesToCome) {
  fathom_run_shared shared{};
  *fathom_loss_counter(&shared, FATHOM_SOURCE_ROOM - 1, FATHOM_LOSS_NO_ROOM) = 4;
  PoolLosses counted;
  counted.add(shared);
  PoolLosses again;
  again.add(bytes_of(counted.encode()));
  ASSERT_EQ(again.losses().size(), 1U);
  EXPECT_EQ(again.losses()[0].layer, "");
  EXPECT_EQ(again.losses()[0].reason, "losses of source 14: no room in the spool");
  EXPECT_EQ(again.losses()[0].count, 4);
  EXPECT_EQ(again.dropped_events(), 4U);
}

// What version 3 wrote before there was room for more sources, byte by byte.
TEST(PoolLosses, TheEntryIsAsItWasWhereNoLaterSourceLostAnything) {
  fathom_run_shared shared{};
  shared.losses[FATHOM_SOURCE_GPU][FATHOM_LOSS_UNBOUND] = 9;
  PoolLosses counted;
  counted.add(shared);
  const std::string entry = counted.encode();
  EXPECT_EQ(entry.size(), 1040U);
  PoolLosses again;
  again.add(bytes_of(entry));
  ASSERT_EQ(again.losses().size(), 1U);
  EXPECT_EQ(again.losses()[0].layer, "gpu");
  EXPECT_EQ(again.losses()[0].reason, "records that CUPTI had no room for");
}

}  // namespace
}  // namespace fathom::trace
