// SPDX-License-Identifier: MIT
#include "fleet/model.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::fleet {
namespace {

TEST(JobName, WhatMayBeOne) {
  for (const char* name : {"a", "7", "nightly", "2001", "A.b_c-d", "x..y"})
    EXPECT_TRUE(is_job_name(name)) << name;
  EXPECT_TRUE(is_job_name(std::string(64, 'n')));
}

TEST(JobName, WhatMayNot) {
  using std::string_literals::operator""s;
  for (const std::string& name : {""s, "."s, ".."s, "-a"s, "_a"s, "a/b"s, "a b"s, "a\n"s, "a\0b"s,
                                  "{a}"s, "a:b"s, "h\xc3\xa9"s, std::string(65, 'n')})
    EXPECT_FALSE(is_job_name(name)) << name;
}

}  // namespace
}  // namespace fathom::fleet
