// SPDX-License-Identifier: MIT
// What counts as going on, as a stride and as a jump, and whose position it is.
#include "trace/rows/access_pattern.h"

#include <gtest/gtest.h>

namespace fathom::trace {
namespace {

constexpr std::int64_t kBlock = 512;

PlaceKey reader(std::int32_t fd) { return {.process = 1, .thread = 2, .fd = fd, .file = 3}; }

class AccessPatternTest : public ::testing::Test {
 protected:
  void read(std::int64_t block, std::int32_t fd = 5) {
    pattern_.add(places_.of(reader(fd)), block * kBlock, kBlock);
  }
  void expect(std::int64_t consecutive, std::int64_t forward, std::int64_t strided) const {
    EXPECT_EQ(pattern_.consecutive, consecutive);
    EXPECT_EQ(pattern_.forward, forward);
    EXPECT_EQ(pattern_.strided, strided);
  }

  FilePlaces places_;
  AccessPattern pattern_;
};

TEST_F(AccessPatternTest, InOrder) {
  for (int block = 7; block < 17; block++) read(block);
  expect(10, 0, 0);
  EXPECT_EQ(pattern_.positioned, 10);
  EXPECT_EQ(pattern_.extent, 17 * kBlock);
  EXPECT_EQ(pattern_.misaligned, 8) << "blocks 8 and 16 begin a page";
}

TEST_F(AccessPatternTest, TwoReadersEachGoOn) {
  for (int block = 0; block < 10; block++) {
    read(block, 5);
    read(1000 + block, 6);
  }
  expect(19, 1, 0);
}

// As after dup().
TEST_F(AccessPatternTest, DescriptorsThatShareAPositionGoOnTogether) {
  for (int block = 0; block < 10; block++) read(block, 5 + block % 2);
  expect(10, 0, 0);
}

TEST_F(AccessPatternTest, AFileThatIsOpenedAnewIsReadFromItsBegin) {
  for (const int blocks : {4, 2, 3}) {
    places_.open(reader(5));
    for (int block = 0; block < blocks; block++) read(block);
  }
  expect(9, 0, 0);
}

// As a log is written that is closed after every line.
TEST_F(AccessPatternTest, AFileThatIsOpenedAnewMayGoOnWhereItWasLeft) {
  for (int block = 3; block < 13; block++) {
    places_.open(reader(5));
    read(block);
  }
  expect(10, 0, 0);
}

TEST_F(AccessPatternTest, AFileThatIsOpenedForEachJumpIsNotInOrder) {
  for (const int block : {7, 90, 3, 50, 20}) {
    places_.open(reader(5));
    read(block);
  }
  expect(1, 2, 0);
}

TEST_F(AccessPatternTest, WoundBackFromItsEnd) {
  for (int pass = 0; pass < 5; pass++) {
    for (int block = 0; block < 4; block++) read(block);
  }
  expect(20, 0, 0);
}

// A header between any two records is no new pass through the file.
TEST_F(AccessPatternTest, BackToTheBeginFromTheMiddleIsAJump) {
  read(0);
  read(100);
  for (const int block : {50, 20, 70}) {
    read(0);
    read(block);
  }
  expect(2, 4, 0);  // the first, and the one from the farthest place; four jumps on, two back
}

// As after fork(), where both read in turns: the other's blocks are no gaps of this one.
TEST_F(AccessPatternTest, WhatSomebodyElseMovedIsNoJump) {
  for (int block = 0; block < 20; block += 2)
    pattern_.add(places_.of(reader(5)), block * kBlock, kBlock, block > 0);
  expect(1, 0, 0);
  EXPECT_EQ(pattern_.positioned, 1);
  pattern_.add(places_.of(reader(5)), 19 * kBlock, kBlock, true);
  expect(2, 0, 0);  // it goes on, whoever moved it
  read(50);
  expect(2, 1, 0);  // a jump of its own
}

// A header by one function, the whole file by another one: the first begins anew.
TEST_F(AccessPatternTest, PassesByAnotherFunction) {
  AccessPattern other;
  read(0);
  for (int block = 0; block < 10; block++) other.add(places_.of(reader(5)), block * kBlock, kBlock);
  for (int block = 0; block < 10; block++) read(block);
  expect(11, 0, 0);
  EXPECT_EQ(other.consecutive, 10);
}

TEST_F(AccessPatternTest, Strides) {
  for (int i = 0; i < 10; i++) read(4 * i);
  expect(1, 9, 8);
}

TEST_F(AccessPatternTest, Backwards) {
  for (int i = 10; i > 0; i--) read(i);
  expect(1, 0, 8);
}

TEST_F(AccessPatternTest, ReadingAndWritingStandApart) {
  AccessPattern writes;
  PlaceKey writer = reader(5);
  writer.writes = true;
  for (int block = 0; block < 10; block++) {
    read(block);
    writes.add(places_.of(writer), (500 + block) * kBlock, kBlock);
  }
  expect(10, 0, 0);
  EXPECT_EQ(writes.consecutive, 10);
}

TEST(FilePlacesTest, ManyDescriptorsKeepTheirPlaces) {
  FilePlaces places;
  for (std::int32_t fd = 0; fd < 500; fd++) places.of(reader(fd)).stop = fd;
  int kept = 0;
  for (std::int32_t fd = 0; fd < 500; fd++) kept += places.of(reader(fd)).stop == fd ? 1 : 0;
  EXPECT_EQ(kept, 500);
}

}  // namespace
}  // namespace fathom::trace
