// SPDX-License-Identifier: MIT
#include "base/plural.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Plural, OneIsSingular) {
  EXPECT_EQ(counted(1, "event"), "1 event");
  EXPECT_EQ(counted(0, "event"), "0 events");
  EXPECT_EQ(counted(134221, "event"), "134221 events");
  EXPECT_EQ(counted(1U, "process"), "1 process");
}

TEST(Plural, EndingsFollowTheNoun) {
  EXPECT_EQ(counted(2, "process"), "2 processes");
  EXPECT_EQ(counted(2, "directory"), "2 directories");
  EXPECT_EQ(counted(2, "copy"), "2 copies");
  EXPECT_EQ(counted(2, "launch"), "2 launches");
  EXPECT_EQ(counted(2, "delay"), "2 delays");
  EXPECT_EQ(counted(2, "fsync call"), "2 fsync calls");
  EXPECT_EQ(counted(2, "begin without an end"), "2 begins without an end");
  EXPECT_EQ(counted(1, "begin without an end"), "1 begin without an end");
  EXPECT_EQ(counted(2, "damaged part of compressed data"), "2 damaged parts of compressed data");
}

TEST(Plural, RoughNumbersAreSingularOnlyAtOne) {
  EXPECT_EQ(counted_roughly(1, "file"), "1 file");
  EXPECT_EQ(counted_roughly(1000, "file"), "1.00 k files");
  EXPECT_EQ(counted_roughly(2.5, "time"), human_count(2.5) + " times");
}

}  // namespace
}  // namespace fathom
