// SPDX-License-Identifier: MIT
#include "base/demangle.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Demangle, NamesOfCpp) {
  EXPECT_EQ(demangle("_ZN6sample14depth_of_waterEi"), "sample::depth_of_water(int)");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangle(""), "");
}

// A compiler's limit is the demangler's, too: what is nested deeper stays as it is.
TEST(Demangle, WhatNobodyCanMeanStays) {
  const std::string deep = "_Z1f" + std::string(1'000'000, 'P') + "i";
  EXPECT_EQ(demangle(deep), deep);
}

}  // namespace
}  // namespace fathom
