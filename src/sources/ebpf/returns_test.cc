// SPDX-License-Identifier: MIT
#include "sources/ebpf/returns.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "sources/ebpf/chosen_code.h"
#include "sources/ebpf/function_notes.h"
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
  if (const Result<std::string> library = find_file("libstdc++.so.6"))
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

Function untimed(const std::string& name, Times times, const std::string& why) {
  return {.file = "/x", .name = name, .times = times, .why = why};
}

TEST(EbpfFunctionNotes, SayWhatIsMissing) {
  Functions functions;
  EXPECT_EQ(lack_of(functions, true), "");
  functions.probed = {untimed("known", Times::kKnown, ""), untimed("dive", Times::kUnknown, "Go"),
                      untimed("tide", Times::kInPlainPrograms, "a library")};
  EXPECT_EQ(
      lack_of(functions, true),
      "entry only, times unknown: dive (Go); --returns insists; entry only, times unknown, in "
      "programs that exceptions may pass through: tide; --returns insists");
  EXPECT_EQ(lack_of(functions, false),
            "entry only, times unknown: dive (Go), tide (a library); --returns insists");
  functions.probed.clear();
  functions.unprobed = {{"spin", "no"}};
  EXPECT_EQ(lack_of(functions, true), "not recorded: spin (no)");
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
