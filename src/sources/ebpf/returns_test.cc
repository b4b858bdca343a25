// SPDX-License-Identifier: MIT
#include "sources/ebpf/returns.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "sources/ebpf/chosen_code.h"
#include "sources/ebpf/function_notes.h"
#include "sources/ebpf/go_code.h"
#include "sources/ebpf/libraries.h"
#include "symbols/elf_code.h"

namespace fathom::sources::ebpf {
namespace {

TEST(EbpfReturns, FunctionsOfTheCLibrary) {
  StackJudge judge;
  const Result<std::string> libc = find_file("libc.so.6");
  if (!libc) GTEST_SKIP() << libc.error().message;
  for (const char* name : {"malloc", "__libc_free", "strlen", "pthread_mutex_lock"})
    EXPECT_EQ(judge.judge(*libc, name).times, Times::kKnown) << name;
  // They call back, or a thread may be cancelled in them.
  for (const char* name : {"qsort", "bsearch", "read", "printf", "dlopen", "pthread_cond_wait"})
    EXPECT_EQ(judge.judge(*libc, name).times, Times::kInPlainPrograms) << name;
}

TEST(EbpfReturns, ThisProgramThrows) {
  StackJudge judge;
  const Judgement own = judge.judge(*real_path("/proc/self/exe"), "main");
  EXPECT_EQ(own.times, Times::kUnknown);
  EXPECT_NE(own.why.find("exceptions may pass through"), std::string::npos) << own.why;
  const Result<std::string> library = find_file("libstdc++.so.6");
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(judge.judge(*library, "anything").times, Times::kUnknown);
  EXPECT_EQ(judge.judge("/no/such/file", "main").times, Times::kUnknown);
}

TEST(EbpfReturns, ChosenCodeIsOneOfTheFilesFunctions) {
  const Result<std::string> libc = find_file("libc.so.6");
  if (!libc) GTEST_SKIP() << libc.error().message;
  const Result<ChosenCode> chosen = ChosenCode::of(*libc, {"strlen", "malloc", "no_such_function"});
  ASSERT_TRUE(chosen) << chosen.error().message;
  const Result<std::uint64_t> malloc_at = chosen->place("malloc");
  ASSERT_TRUE(malloc_at);
  const Result<std::vector<symbols::CodePlace>> functions = symbols::functions_of(*libc);
  ASSERT_TRUE(functions);
  bool agrees = false;
  for (const symbols::CodePlace& place : *functions)
    agrees |= place.name == "malloc" && place.offset == *malloc_at;
  EXPECT_TRUE(agrees);
  EXPECT_TRUE(chosen->place("strlen"));
  EXPECT_FALSE(chosen->place("no_such_function"));
  EXPECT_FALSE(ChosenCode::of("/no/such/library.so", {"strlen"}));
}

#if defined(__x86_64__)
TEST(EbpfGoCode, BehindTheQuestionForRoom) {
  using namespace std::string_literals;
  const std::pair<std::string, std::size_t> cases[] = {
      {"\x49\x3b\x66\x10\x76\x35\x55"s, 6},                                   // cmp, jbe, push
      {"\x4c\x8d\x64\x24\xf8\x4d\x3b\x66\x10\x0f\x86\0\1\0\0\x55"s, 15},      // a larger frame
      {"\x64\x48\x8b\x0c\x25\xf8\xff\xff\xff\x48\x3b\x61\x10\x76\x35"s, 15},  // Go 1.16
      {"\x55\x48\x89\xe5"s, 0},                                               // does not ask
      {"\x49\x3b\x66\x10"s, 0},                                               // cut
      {""s, 0},
  };
  for (const auto& [code, length] : cases) EXPECT_EQ(stack_check_of(code), length);
}
#elif defined(__aarch64__)
TEST(EbpfGoCode, BehindTheQuestionForRoom) {
  const std::uint32_t asks[] = {0xf9400b90, 0xeb3063ff, 0x54000189, 0xf81e0ffe};
  EXPECT_EQ(stack_check_of({reinterpret_cast<const char*>(asks), sizeof asks}), 12U);
  const std::uint32_t does_not[] = {0xf81e0ffe, 0xd65f03c0};
  EXPECT_EQ(stack_check_of({reinterpret_cast<const char*>(does_not), sizeof does_not}), 0U);
}
#endif

Function untimed(const std::string& name, Times times, const std::string& why) {
  return {.file = "/x", .name = name, .times = times, .why = why};
}

TEST(EbpfFunctionNotes, SayWhatIsMissing) {
  Functions functions;
  EXPECT_EQ(lack_of(functions, FATHOM_BPF_USER, true), "");
  functions.probed = {untimed("known", Times::kKnown, ""), untimed("dive", Times::kUnknown, "Go"),
                      untimed("tide", Times::kInPlainPrograms, "a library")};
  EXPECT_EQ(
      lack_of(functions, FATHOM_BPF_USER, true),
      "entry only, times unknown: dive (Go); --returns times them too, but may crash the program; "
      "entry only, times unknown, in programs that exceptions may pass through: tide; --returns "
      "times them too, but may crash the program");
  EXPECT_EQ(lack_of(functions, FATHOM_BPF_USER, false),
            "entry only, times unknown: dive (Go), tide (a library); --returns times them too, but "
            "may crash the program");
  functions.probed.clear();
  functions.unprobed = {{"spin", "no"}};
  EXPECT_EQ(lack_of(functions, FATHOM_BPF_USER, true), "not recorded: spin (no)");
}

TEST(EbpfFunctionNotes, LossesAreFew) {
  const std::vector<Unprobed> many(100, {"spin", "no"});
  const std::vector<trace::Loss> losses = losses_of(many);
  EXPECT_EQ(losses.size(), 9U);
  std::int64_t functions = 0;
  for (const trace::Loss& loss : losses) functions += loss.count;
  EXPECT_EQ(functions, 100);
}

}  // namespace
}  // namespace fathom::sources::ebpf
