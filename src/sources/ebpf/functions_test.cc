// SPDX-License-Identifier: MIT
#include "sources/ebpf/functions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"

extern "C" __attribute__((noinline, used)) int fathom_probed_one(int number) { return number + 1; }
extern "C" __attribute__((noinline, used)) int fathom_probed_other(int number) {
  return number + 2;
}
__attribute__((noinline, used)) int fathom_cpp_probed(int number, char more) {
  return number + more;
}

namespace fathom::sources::ebpf {
namespace {

std::vector<std::string> names_of(const std::vector<std::string>& texts) {
  const Result<Functions> functions = find_functions(texts);
  EXPECT_TRUE(functions) << functions.error().message;
  std::vector<std::string> names;
  if (functions) {
    for (const Function& function : functions->probed) names.push_back(function.name);
  }
  std::ranges::sort(names);
  return names;
}

using Names = std::vector<std::string>;

TEST(EbpfFunctions, ANameIsThatFunctionAlone) {
  EXPECT_EQ(names_of({"/proc/self/exe:fathom_probed_one"}), (Names{"fathom_probed_one"}));
  EXPECT_EQ(names_of({"/proc/self/exe:^fathom_probed_.*"}),
            (Names{"fathom_probed_one", "fathom_probed_other"}));
  EXPECT_EQ(names_of({"/proc/self/exe:fathom_probed_one", "/proc/self/exe:^fathom_probed_o.*"}),
            (Names{"fathom_probed_one", "fathom_probed_other"}));
}

TEST(EbpfFunctions, NamesOfCpp) {
  const Names want = {"fathom_cpp_probed(int, char)"};
  for (const char* text : {"fathom_cpp_probed", "fathom_cpp_probed(int, char)",
                           "fathom_cpp_probed(int,char)", "_Z17fathom_cpp_probedic"})
    EXPECT_EQ(names_of({std::string("/proc/self/exe:") + text}), want) << text;
}

TEST(EbpfFunctions, OfTheKernel) {
  const Result<Functions> functions = find_functions(
      {"tracepoint:sched_process_fork", "libc.so.6:malloc"}, {"lives=tracepoint:^sched_"});
  if (!functions) GTEST_SKIP() << functions.error().message;
  ASSERT_EQ(functions->probed.size(), 2U);
  EXPECT_TRUE(functions->probed[0].is_tracepoint());
  EXPECT_EQ(functions->probed[0].category, "lives");
  EXPECT_EQ(functions->probed[1].category, "[libc.so.6]");
}

TEST(EbpfFunctions, SimilarNamesAreTold) {
  const Result<Functions> functions = find_functions({"/proc/self/exe:fathom_probed_onee"});
  ASSERT_FALSE(functions);
  EXPECT_NE(functions.error().hint.find("fathom_probed_one"), std::string::npos)
      << functions.error().hint;
}

TEST(EbpfFunctions, LibrariesAreFoundByTheirNames) {
  const Result<Functions> functions = find_functions({"libc.so.6:malloc"});
  ASSERT_TRUE(functions) << functions.error().message;
  ASSERT_EQ(functions->probed.size(), 1U);
  EXPECT_EQ(functions->probed.front().name, "malloc");
  EXPECT_TRUE(functions->probed.front().file.starts_with('/'));
}

TEST(EbpfFunctions, Categories) {
  const auto categories_of = [](const std::vector<std::string>& categories) {
    const Result<Functions> functions =
        find_functions({"libc.so.6:malloc", "/proc/self/exe:fathom_probed_one"}, categories);
    EXPECT_TRUE(functions) << functions.error().message;
    Names names;
    if (!functions) return names;
    for (const Function& function : functions->probed) names.push_back(function.category);
    return names;
  };
  const std::string own = "[" + std::string(base_name(*real_path("/proc/self/exe"))) + "]";
  EXPECT_EQ(categories_of({}), (Names{"[libc.so.6]", own}));
  EXPECT_EQ(categories_of({"memory=malloc", "all=.*"}), (Names{"memory", "all"}));
  EXPECT_EQ(categories_of({"c=libc.so.6:.*", "x=^fathom::", "y=mall"}), (Names{"c", own}));
  for (const char* text : {"sound", "=malloc", "c=", "c=("})
    EXPECT_EQ(find_functions({}, {text}).error().code, Code::kUsage) << text;
}

TEST(EbpfFunctions, SaysWhatIsWrong) {
  const std::pair<const char*, Code> cases[] = {
      {"sound", Code::kUsage},
      {":sound", Code::kUsage},
      {"libc.so.6:", Code::kUsage},
      {"libc.so.6:(", Code::kUsage},
      {"usdt:libc.so.6:libc", Code::kUsage},
      {"/no/such/file:sound", Code::kNotFound},
      {"libnosuch.so:sound", Code::kNotFound},
      {"libc.so.6:no_such_function", Code::kNotFound},
      {"usdt:libc.so.6:no:such", Code::kNotFound},
  };
  for (const auto& [text, code] : cases) {
    const Result<Functions> functions = find_functions({text});
    ASSERT_FALSE(functions) << text;
    EXPECT_EQ(functions.error().code, code) << text;
  }
}

}  // namespace
}  // namespace fathom::sources::ebpf
