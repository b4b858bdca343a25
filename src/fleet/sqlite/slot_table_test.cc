// SPDX-License-Identifier: MIT
#include "fleet/sqlite/slot_table.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::fleet {
namespace {

Hash128 hash(const Hash128& key, std::initializer_list<std::string_view> names) {
  KeyedHash keyed(key);
  for (const std::string_view name : names) keyed.add(name);
  return keyed.finish();
}

TEST(KeyedHash, TellsNamesAndKeysApart) {
  const Hash128 key{1, 2};
  EXPECT_EQ(hash(key, {"ab", "c"}), hash(key, {"ab", "c"}));
  EXPECT_NE(hash(key, {"ab", "c"}), hash(key, {"a", "bc"}));
  EXPECT_NE(hash(key, {"", "a"}), hash(key, {"a", ""}));
  EXPECT_NE(hash(key, {std::string(8, '\0')}), hash(key, {std::string(9, '\0')}));
  EXPECT_NE(hash(key, {"ab"}), hash({1, 3}, {"ab"}));
}

TEST(SlotTable, FindsWhatWasPutIn) {
  const Hash128 key{7, 9};
  SlotTable table;
  EXPECT_FALSE(table.find(hash(key, {"nothing"})));
  for (std::uint32_t slot = 0; slot < 5000; ++slot)
    table.insert(hash(key, {std::to_string(slot)}), slot);
  EXPECT_EQ(table.size(), 5000);
  for (std::uint32_t slot = 0; slot < 5000; ++slot)
    EXPECT_EQ(table.find(hash(key, {std::to_string(slot)})), slot);
  EXPECT_FALSE(table.find(hash(key, {"5000"})));
}

}  // namespace
}  // namespace fathom::fleet
