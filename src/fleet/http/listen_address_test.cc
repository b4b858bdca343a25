// SPDX-License-Identifier: MIT
#include "fleet/http/listen_address.h"

#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

TEST(ListenAddress, WhatMayBeOne) {
  EXPECT_EQ(parse_address("127.0.0.1:0", "--x")->port, 0);
  EXPECT_EQ(parse_address("[::]:10000", "--x")->host, "::");
  for (const char* port : {"8000", ":8000"}) {
    EXPECT_EQ(parse_address(port, "--x")->host, "127.0.0.1");
    EXPECT_EQ(parse_address(port, "--x")->port, 8000);
  }
  for (const char* text :
       {"", ":", "x", "127.0.0.1", "::1:80", "x:", "x:y", "x:65536", "x:-1", "x:1 ", "1:2:3"}) {
    const Result<Address> address = parse_address(text, "--x");
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, Code::kUsage) << text;
    EXPECT_TRUE(address.error().message.starts_with("--x must be ")) << address.error().message;
  }
}

}  // namespace
}  // namespace fathom::fleet
