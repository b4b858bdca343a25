// SPDX-License-Identifier: MIT
#include "symbols/elf_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/files.h"

// A function that this file knows the bytes of.
extern "C" __attribute__((noinline, used)) int fathom_known_function(int number) {
  return number + 12345;
}

namespace fathom::symbols {
namespace {

TEST(ElfCode, FindsFunctionsWhereTheirBytesAre) {
  const Result<std::vector<CodePlace>> functions = functions_of("/proc/self/exe");
  ASSERT_TRUE(functions);
  const auto found = std::ranges::find(*functions, "fathom_known_function", &CodePlace::name);
  ASSERT_NE(found, functions->end());
  const std::string file = read_file("/proc/self/exe").value();
  ASSERT_GT(file.size(), found->offset + 8);
  const auto* code = reinterpret_cast<const char*>(&fathom_known_function);
  EXPECT_EQ(std::memcmp(code, file.data() + found->offset, 8), 0);
}

TEST(ElfCode, NoNameIsThereTwice) {
  const Result<std::vector<CodePlace>> functions = functions_of("/proc/self/exe");
  ASSERT_TRUE(functions);
  EXPECT_EQ(std::ranges::count(*functions, "fathom_known_function", &CodePlace::name), 1);
}

TEST(ElfCode, RefusesWhatIsNoProgram) {
  EXPECT_EQ(functions_of("/no/such/file").error().code, Code::kNotFound);
  EXPECT_EQ(functions_of("/etc/passwd").error().code, Code::kCorrupt);
  EXPECT_EQ(static_probes_of("/etc/passwd").error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace fathom::symbols
