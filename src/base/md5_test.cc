// SPDX-License-Identifier: MIT
#include "base/md5.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom {
namespace {

std::string hex(std::string_view text) {
  std::string out;
  for (const std::uint8_t byte : md5(text)) {
    constexpr char kHex[] = "0123456789abcdef";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

// The digests are md5sum's.
TEST(Md5, IsThatOfTheStandard) {
  EXPECT_EQ(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(hex(std::string(55, 'x')), "04364420e25c512fd958a70738aa8f72");
  EXPECT_EQ(hex(std::string(56, 'x')), "668a72d5ba17f08e62dabcafad6db14b");
  EXPECT_EQ(hex(std::string(64, 'x')), "c1bb4f81d892b2d57947682aeb252456");
  EXPECT_EQ(hex(std::string(1000, 'x')), "398533d48111e9f664b1f64cb10c4b63");
}

}  // namespace
}  // namespace fathom
