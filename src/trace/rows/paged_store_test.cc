// SPDX-License-Identifier: MIT
#include "trace/rows/paged_store.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fathom::trace {
namespace {

TEST(PagedStoreTest, MoreThanMemoryHoldsComesBack) {
  PagedStore store("");
  constexpr std::size_t kBytes = 1000;
  std::vector<std::uint64_t> places;
  for (std::uint32_t i = 0; i < 60'000; i++) {
    places.push_back(store.allocate(kBytes));
    std::memset(store.at(places.back()), static_cast<int>(i % 251 + 1), kBytes);
  }
  EXPECT_GT(store.pages(), 3 * PagedStore::kMostInMemory);
  EXPECT_LE(store.pages_in_memory(), PagedStore::kMostInMemory);
  std::uint64_t wrong = 0;
  for (std::uint32_t step = 0; step < 60'000; step++) {
    const std::uint32_t i = static_cast<std::uint32_t>((std::uint64_t{step} * 7919) % 60'000);
    const char* at = store.at(places[i]);
    const char wanted = static_cast<char>(i % 251 + 1);
    wrong += at[0] != wanted || at[kBytes - 1] != wanted ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_LE(store.pages_in_memory(), PagedStore::kMostInMemory);
}

// A pointer outlives the next few questions, also where each brings another page.
TEST(PagedStoreTest, WhatWasAskedForStaysAWhile) {
  PagedStore store("");
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < 2 * PagedStore::kMostInMemory; i++) {
    places.push_back(store.allocate(PagedStore::kPage));
    *store.at(places.back()) = 'x';
  }
  for (std::size_t i = 0; i + PagedStore::kSafe < places.size(); i++) {
    char* first = store.at(places[i]);
    for (std::uint64_t next = 1; next < PagedStore::kSafe; next++) (void)store.at(places[i + next]);
    ASSERT_EQ(*first, 'x') << i;
  }
}

TEST(PagedStoreTest, WithoutAFileItStaysInMemory) {
  ::setenv("TMPDIR", "/proc/none", 1);
  PagedStore store("/proc");
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < PagedStore::kMostInMemory + 20; i++) {
    places.push_back(store.allocate(PagedStore::kPage));
    *store.at(places.back()) = static_cast<char>(i % 100 + 1);
  }
  ::unsetenv("TMPDIR");
  for (std::size_t i = 0; i < places.size(); i++)
    EXPECT_EQ(*store.at(places[i]), static_cast<char>(i % 100 + 1));
}

}  // namespace
}  // namespace fathom::trace
