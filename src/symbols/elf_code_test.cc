// SPDX-License-Identifier: MIT
#include "symbols/elf_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

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

// Versions of one name are functions of their own: one of them may call another.
TEST(ElfCode, AVersionThatIsNotTheDefaultIsNamed) {
  const Result<std::vector<CodePlace>> functions = functions_of("/lib/x86_64-linux-gnu/libc.so.6");
  if (!functions) GTEST_SKIP() << functions.error().message;
  std::map<std::string, std::set<std::uint64_t>> places;
  for (const CodePlace& place : *functions) places[place.name].insert(place.offset);
  EXPECT_EQ(places["realpath"].size(), 1U);
  EXPECT_EQ(places["realpath@GLIBC_2.2.5"].size(), 1U);
  EXPECT_NE(places["realpath"], places["realpath@GLIBC_2.2.5"]);
  EXPECT_TRUE(std::ranges::any_of(
      *functions, [](const CodePlace& place) { return place.name == "strlen" && place.chooses; }));
}

TEST(ElfCode, RefusesWhatIsNoProgram) {
  EXPECT_EQ(functions_of("/no/such/file").error().code, Code::kNotFound);
  EXPECT_EQ(functions_of("/etc/passwd").error().code, Code::kCorrupt);
  EXPECT_EQ(static_probes_of("/etc/passwd").error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace fathom::symbols
