// SPDX-License-Identifier: MIT
#include "fleet/http/encodings.h"

#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

TEST(EncodingsTest, WhatAUrlCouldReadAsItsOwnIsEncoded) {
  EXPECT_EQ(encode_segment("a-b.c_d~1"), "a-b.c_d~1");
  EXPECT_EQ(encode_segment("a/b c%\xc3"), "a%2Fb%20c%25%C3");
  EXPECT_EQ(encode_segment("a b&c/ü"), "a%20b%26c%2F%C3%BC");
  EXPECT_EQ(encode_segment(""), "");
}

TEST(EncodingsTest, Base64HasItsPadding) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("user:token"), "dXNlcjp0b2tlbg==");
  EXPECT_EQ(base64({"\0\xff", 2}), "AP8=");
  EXPECT_EQ(base64("abc"), "YWJj");
}

}  // namespace
}  // namespace fathom::fleet
