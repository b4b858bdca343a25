// SPDX-License-Identifier: MIT
#include "base/cpus.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Cpus, ListsAreReadAsTheKernelWritesThem) {
  EXPECT_EQ(parse_cpu_list("0-3,7\n"), (std::vector{0, 1, 2, 3, 7}));
  EXPECT_EQ(parse_cpu_list("5"), std::vector{5});
  for (const char* wrong : {"", "x", "2-", "-1", "4-3", "0-99999999", "1,,2", "6,x"})
    EXPECT_FALSE(parse_cpu_list(wrong)) << wrong;
}

TEST(Cpus, OneIsOnline) { EXPECT_FALSE(online_cpus().empty()); }

}  // namespace
}  // namespace fathom
