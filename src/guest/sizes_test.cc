// SPDX-License-Identifier: MIT
#include "guest/sizes.h"

#include <gtest/gtest.h>

namespace fathom::guest {
namespace {

void expect_bytes(const char* text, uint64_t bytes) {
  const Size size = parse_size(text);
  EXPECT_TRUE(size.known) << text;
  EXPECT_EQ(size.bytes, bytes) << text;
}

TEST(Sizes, MeanWhatTheySay) {
  expect_bytes("0", 0);
  expect_bytes("4096", 4096);
  expect_bytes("700M", UINT64_C(700) << 20);
  expect_bytes("1.5g", UINT64_C(3) << 29);
  expect_bytes("2T", UINT64_C(2) << 40);
  expect_bytes("64 kB", 65536);
  expect_bytes(".5GiB", UINT64_C(1) << 29);
  expect_bytes("17B", 17);
}

TEST(Sizes, ThatAreTooLargeAreTheLargest) {
  expect_bytes("99999999999999999999999999999999999999999999999", kMostBytes);
  expect_bytes("9000P", kMostBytes);
  expect_bytes("9223372036854775807.9k", kMostBytes);
}

TEST(Sizes, WhatIsNone) {
  for (const char* text : {"", "lots", "-1", "+1", "1.2.3G", "5X", "G", ".", "1i", "1kk", "0x10",
                           "1e3", "1 2", "1 G x", "4GiBs"})
    EXPECT_FALSE(parse_size(text).known) << text;
}

}  // namespace
}  // namespace fathom::guest
