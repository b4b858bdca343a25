// SPDX-License-Identifier: MIT
#include "symbols/symbolizer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cmath>

#include "base/testing/emulation.h"

namespace sample {
// Not static, so that it has a symbol that this test can find by itself.
__attribute__((noinline)) int depth_of_water(int fathoms) { return fathoms * 6; }
}  // namespace sample

namespace fathom::symbols {
namespace {

std::uint64_t offset_in_program(const void* address) {
  Dl_info info{};
  EXPECT_NE(dladdr(address, &info), 0);
  return reinterpret_cast<std::uintptr_t>(address) -
         reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

TEST(Symbolizer, NamesAFunctionOfThisProgram) {
  Symbolizer symbolizer;
  const auto* address = reinterpret_cast<const void*>(&sample::depth_of_water);
  for (const std::uint64_t into : {0, 1}) {
    const Result<Symbol> found =
        symbolizer.find("/proc/self/exe", offset_in_program(address) + into);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->function, "sample::depth_of_water(int)");
  }
}

TEST(Symbolizer, NamesAFunctionOfASharedLibrary) {
  FATHOM_SKIP_UNDER_EMULATION("the paths of libraries are those of a root that is not there");
  Dl_info info{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "getenv"), &info), 0);
  Symbolizer symbolizer;
  const Result<Symbol> found = symbolizer.find(info.dli_fname, offset_in_program(info.dli_saddr));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->function, "getenv");
}

TEST(Symbolizer, WhatCannotBeFoundIsAnError) {
  struct Case {
    const char* name;
    const char* module;
    std::uint64_t offset;
    Code want;
  };
  const Case cases[] = {
      {"no file", "/no/such/module", 0, Code::kNotFound},
      {"no ELF file", "/proc/self/status", 0, Code::kCorrupt},
      {"behind the end", "/proc/self/exe", std::uint64_t{1} << 40, Code::kNotFound},
  };
  Symbolizer symbolizer;
  for (const Case& c : cases) {
    for (int again = 0; again < 2; ++again) {
      const Result<Symbol> found = symbolizer.find(c.module, c.offset);
      ASSERT_FALSE(found) << c.name;
      EXPECT_EQ(found.error().code, c.want) << c.name;
    }
  }
}

}  // namespace
}  // namespace fathom::symbols
