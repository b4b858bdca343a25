// SPDX-License-Identifier: MIT
#include "sources/perf/process_maps.h"

#include <gtest/gtest.h>

namespace fathom::sources {
namespace {

class ProcessMapsTest : public ::testing::Test {
 protected:
  void map(std::int32_t pid, std::uint64_t address, std::uint64_t length, std::uint64_t offset,
           const char* path) {
    maps_.mapped(pid, {address, length, offset, maps_.module(path, "")});
  }
  [[nodiscard]] std::string at(std::int32_t pid, std::uint64_t address) const {
    const auto place = maps_.find(pid, address);
    return place ? place->module->path + "+" + std::to_string(place->offset) : "nothing";
  }
  ProcessMaps maps_;
};

TEST_F(ProcessMapsTest, APlaceIsAnOffsetInAFile) {
  map(1, 1000, 100, 50, "a");
  EXPECT_EQ(at(1, 999), "nothing");
  EXPECT_EQ(at(1, 1000), "a+50");
  EXPECT_EQ(at(1, 1099), "a+149");
  EXPECT_EQ(at(1, 1100), "nothing");
  EXPECT_EQ(at(2, 1000), "nothing");
}

TEST_F(ProcessMapsTest, WhatIsMappedOverAnotherTakesItsPlace) {
  map(1, 1000, 100, 0, "a");
  map(1, 1040, 20, 7, "b");
  EXPECT_EQ(at(1, 1039), "a+39");
  EXPECT_EQ(at(1, 1040), "b+7");
  EXPECT_EQ(at(1, 1060), "a+60");
  map(1, 900, 150, 0, "c");
  EXPECT_EQ(at(1, 1049), "c+149");
  EXPECT_EQ(at(1, 1050), "b+17");
  map(1, 0, 5000, 0, "d");
  EXPECT_EQ(at(1, 1060), "d+1060");
}

TEST_F(ProcessMapsTest, AChildHasItsParentsUntilItChanges) {
  map(1, 1000, 100, 0, "a");
  maps_.forked(1, 2);
  map(2, 1000, 100, 0, "b");
  EXPECT_EQ(at(1, 1000), "a+0");
  EXPECT_EQ(at(2, 1000), "b+0");
  maps_.forked(1, 3);
  maps_.cleared(1);
  EXPECT_EQ(at(1, 1000), "nothing");
  EXPECT_EQ(at(3, 1000), "a+0");
  maps_.forked(9, 3);  // a number that is used again, of a parent that nobody knows
  EXPECT_EQ(at(3, 1000), "nothing");
}

TEST_F(ProcessMapsTest, ARegionBeyondTheLastAddressIsNone) {
  map(1, ~std::uint64_t{0} - 10, 100, 0, "a");
  EXPECT_EQ(at(1, ~std::uint64_t{0} - 5), "nothing");
}

TEST_F(ProcessMapsTest, FilesDifferByBuildId) {
  EXPECT_NE(maps_.module("a", "01"), maps_.module("a", "02"));
  EXPECT_EQ(maps_.module("a", "01"), maps_.module("a", "01"));
}

}  // namespace
}  // namespace fathom::sources
