// SPDX-License-Identifier: MIT
#include "fleet/agents/profile_ledger.h"

#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

std::int64_t sum_of(const std::vector<ProfileRow>& rows, const std::string& node) {
  std::int64_t sum = 0;
  for (const ProfileRow& row : rows) sum += row.node == node ? row.count : 0;
  return sum;
}

TEST(ProfileLedgerTest, AllThatWasSentIsTheLastReading) {
  ProfileLedger ledger;
  std::int64_t f = 0;
  for (const std::int64_t now : {0, 1, 100, 100, 90, 1000}) {
    const auto rows = ledger.grown({{"f", "a", "cpu-clock", now}});
    f += sum_of(rows, "f");
    EXPECT_LE(f, now > 90 || now < 2 ? now : 100);
  }
  const ProfileLedger::Rest rest =
      ledger.rest({{"f", "a", "cpu-clock", 990}, {"g", "a", "cpu-clock", 7}});
  EXPECT_EQ(f + sum_of(rest.rows, "f"), 990);
  EXPECT_EQ(sum_of(rest.rows, "g"), 7);
  EXPECT_EQ(rest.too_much, 0);
}

TEST(ProfileLedgerTest, WhatShrankByMoreThanWasHeldBackIsCounted) {
  ProfileLedger ledger;
  (void)ledger.grown({{"f", "a", "e", 1600}, {"g", "a", "e", 100}, {"h", "a", "e", 0}});
  const ProfileLedger::Rest rest = ledger.rest({{"f", "a", "e", 1400}});
  EXPECT_TRUE(rest.rows.empty());
  EXPECT_EQ(rest.too_much, 2);  // f is too large, g is no more
}

TEST(ProfileLedgerTest, APlaceWaitsForTheNameOfItsFunction) {
  ProfileLedger ledger;
  EXPECT_TRUE(ledger.grown({{"[vdso]+0xbe1", "[vdso]", "e", 160}}).empty());
  const ProfileLedger::Rest named = ledger.rest({{"clock_gettime", "[vdso]", "e", 160}});
  EXPECT_EQ(sum_of(named.rows, "clock_gettime"), 160);
  EXPECT_EQ(named.too_much, 0);
  const ProfileLedger::Rest unnamed = ProfileLedger().rest({{"lib.so+0x10", "lib.so", "e", 5}});
  EXPECT_EQ(sum_of(unnamed.rows, "lib.so+0x10"), 5) << "it has no other name in the end";
}

TEST(ProfileLedgerTest, RowsAreToldApartByAllTheirNames) {
  ProfileLedger ledger;
  (void)ledger.grown({{"f", "a", "e", 160}});
  const ProfileLedger::Rest rest =
      ledger.rest({{"f", "a", "e", 160}, {"f", "b", "e", 5}, {"f", "a", "d", 6}});
  EXPECT_EQ(rest.rows.size(), 3);
  EXPECT_EQ(sum_of(rest.rows, "f"), 10 + 5 + 6);
}

}  // namespace
}  // namespace fathom::fleet
