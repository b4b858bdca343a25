// SPDX-License-Identifier: MIT
#include "base/cpus.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Cpus, ListsAreReadAsTheKernelWritesThem) {
  EXPECT_EQ(parse_cpu_list("0-3,7\n"), (std::vector{0, 1, 2, 3, 7}));
  EXPECT_EQ(parse_cpu_list("5"), std::vector{5});
  EXPECT_TRUE(parse_cpu_list("").empty());
  EXPECT_EQ(parse_cpu_list("x,2-,-1,4-3,0-99999999,6"), std::vector{6});
}

TEST(Cpus, OneIsOnline) { EXPECT_FALSE(online_cpus().empty()); }

}  // namespace
}  // namespace fathom
