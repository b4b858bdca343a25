// SPDX-License-Identifier: MIT
#include "sources/ebpf/cost.h"

#include <gtest/gtest.h>

namespace fathom::sources::ebpf {
namespace {

using Bytes = std::array<std::uint8_t, 8>;

TEST(EbpfCost, FirstInstructions) {
#if defined(__x86_64__)
  EXPECT_EQ(step_of(Bytes{0x0f, 0x1f, 0x44, 0x00, 0x00}), Step::kNop5);
  EXPECT_EQ(step_of(Bytes{0x55, 0x48, 0x89, 0xe5}), Step::kEmulated);       // push %rbp
  EXPECT_EQ(step_of(Bytes{0x41, 0x57}), Step::kEmulated);                   // push %r15
  EXPECT_EQ(step_of(Bytes{0x0f, 0x84, 0, 0, 0, 0}), Step::kEmulated);       // je
  EXPECT_EQ(step_of(Bytes{0xf3, 0x0f, 0x1e, 0xfa, 0x55}), Step::kStepped);  // endbr64
  EXPECT_EQ(step_of(Bytes{0x80, 0x3d, 0, 0, 0, 0, 0}), Step::kStepped);     // cmp
#elif defined(__aarch64__)
  EXPECT_EQ(step_of(Bytes{0x1f, 0x20, 0x03, 0xd5}), Step::kNop5);
  EXPECT_EQ(step_of(Bytes{0x01, 0x00, 0x00, 0x14}), Step::kEmulated);  // b
  EXPECT_EQ(step_of(Bytes{0xfd, 0x7b, 0xbf, 0xa9}), Step::kStepped);   // stp
#endif
}

TEST(EbpfCost, FunctionsThatDoNothingBeginAsTheySay) {
  const Result<std::vector<Function>> functions = null_functions();
  ASSERT_TRUE(functions) << functions.error().message;
  ASSERT_EQ(functions->size(), kSteps);
  for (std::size_t i = 0; i < kSteps; ++i)
    EXPECT_EQ(step_of((*functions)[i]), static_cast<Step>(i));
}

TEST(EbpfCost, DearFunctionsAreNamed) {
  Result<std::vector<Function>> functions = null_functions();
  ASSERT_TRUE(functions);
  for (std::size_t i = 0; i < kSteps; ++i) (*functions)[i].name = "f" + std::to_string(i);
  Costs costs;
  EXPECT_EQ(dear_functions(*functions, costs), "");
  costs.function = {300, 900, 7000};
  EXPECT_EQ(dear_functions(*functions, costs),
            "these probes are expensive; each call takes longer by 7.00 us (f2)");
  costs.function = {300, 900, 1000};
  EXPECT_EQ(dear_functions(*functions, costs), "");
  functions->at(0).name = "__libc_malloc";
  EXPECT_EQ(dear_functions(*functions, costs),
            "these probes are expensive; each call takes longer by 300 ns (__libc_malloc); layer "
            "heap counts "
            "allocations for less: --layers +heap");
}

}  // namespace
}  // namespace fathom::sources::ebpf
