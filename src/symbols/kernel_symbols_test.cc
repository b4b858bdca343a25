// SPDX-License-Identifier: MIT
#include "symbols/kernel_symbols.h"

#include <gtest/gtest.h>

namespace fathom::symbols {
namespace {

TEST(KernelSymbols, FunctionsHoldToTheNextSymbol) {
  const KernelSymbols kernel =
      KernelSymbols::parse(
          "ffffffff81000000 T _text\nffffffff81000100 t local\nffffffff81000100 T shared\n"
          "ffffffff81000200 D data\nffffffffc0000000 t of_module\t[nf_tables]\n"
          "ffffffffc0000040 t bpf_prog_6deef7357e7b4530\t[bpf]\nbroken\n")
          .value();
  EXPECT_EQ(kernel.find(0xffffffff80ffffff).function, "");
  EXPECT_EQ(kernel.find(0xffffffff81000000).function, "_text");
  EXPECT_EQ(kernel.find(0xffffffff810001ff).function, "shared");
  EXPECT_EQ(kernel.find(0xffffffff810001ff).module, "");
  EXPECT_EQ(kernel.find(0xffffffff81000200).function, "");
  EXPECT_EQ(kernel.find(0xffffffffc0000010).function, "of_module");
  EXPECT_EQ(kernel.find(0xffffffffc0000010).module, "nf_tables");
  EXPECT_EQ(kernel.find(0xffffffffc0000050).module, "bpf");
  EXPECT_EQ(kernel.find(0xffffffffc1000000).function, "") << "far behind the last one";
}

TEST(KernelSymbols, HiddenAddressesAreSaid) {
  const auto hidden = KernelSymbols::parse("0000000000000000 T _text\n0000000000000000 t local\n");
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().code, Code::kDenied);
  EXPECT_EQ(KernelSymbols::parse("").error().code, Code::kDenied);
}

TEST(KernelSymbols, OfThisKernel) {
  const Result<KernelSymbols> kernel = KernelSymbols::read();
  if (!kernel) GTEST_SKIP() << kernel.error().message;
  EXPECT_GT(kernel->size(), 1000U);
}

}  // namespace
}  // namespace fathom::symbols
