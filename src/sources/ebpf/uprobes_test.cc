// SPDX-License-Identifier: MIT
// Every way to put programs at functions, whichever this kernel would choose by itself.
#include "sources/ebpf/uprobes.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace fathom::sources::ebpf {
namespace {

// How often each function was called, by its number.
using Counts = std::map<std::uint32_t, std::uint64_t>;

Counts counts_of(int sums) {
  Counts counts;
  fathom_call_key key{};
  const fathom_call_key* last = nullptr;
  for (fathom_call_key next{}; bpf_map_get_next_key(sums, last, &next) == 0;) {
    key = next;
    last = &key;
    fathom_call_sums found{};
    if (bpf_map_lookup_elem(sums, &key, &found) == 0)
      counts[FATHOM_BPF_NUMBER_OF(key.call)] += found.calls;
  }
  return counts;
}

Counts counts_by(const Module& module, const Loaded& first, std::string& refusal) {
  Result<Loaded> loaded = load_module(module, first);
  Result<std::vector<Function>> functions = null_functions();
  if (!loaded || !functions) {
    refusal = loaded ? "no functions" : loaded.error().message;
    return {};
  }
  functions->back().times = Times::kUnknown;
  const Status ready = set_up(*loaded, {});
  const Result<std::vector<Unprobed>> attached = attach_functions(*loaded, *functions, 7);
  if (!ready || !attached) {
    refusal = ready ? attached.error().message : ready.error().message;
    return {};
  }
  null_function_ns(Step::kEmulated);  // nobody is followed: not counted
  const Status followed = follow(first, ::getpid(), true);
  EXPECT_TRUE(followed.has_value());
  for (std::size_t i = 0; i < kSteps; ++i) null_function_ns(static_cast<Step>(i));
  unfollow(first, ::getpid());
  return counts_of(first.map("sums"));
}

// How many ways there are.
int count_by_every_way() {
  constexpr std::uint64_t kCalls = 12 * 64;  // of null_function_ns()
  int ways = 0;
  for (const Module& module : kModules) {
    if (module.layer != FATHOM_BPF_USER) continue;
    const Result<Loaded> first = load_first({});
    if (!first) return 0;
    std::string refusal;
    const Counts counts = counts_by(module, *first, refusal);
    if (!refusal.empty()) {
      std::printf("%s: %s\n", std::string(module.what).c_str(), refusal.c_str());
      continue;
    }
    ++ways;
    EXPECT_EQ(counts, (Counts{{7, kCalls}, {8, kCalls}, {9 | FATHOM_BPF_UNTIMED, kCalls}}))
        << module.what;
  }
  return ways;
}

TEST(EbpfUprobes, EveryWayCountsOnEveryRung) {
  const Result<Loaded> first = load_first({});
  if (!first) GTEST_SKIP() << first.error().message;
  EXPECT_GT(count_by_every_way(), 0);
  setenv("FATHOM_KERNEL_WITHOUT", "typed", 1);
  EXPECT_GT(count_by_every_way(), 0);
  unsetenv("FATHOM_KERNEL_WITHOUT");
}

}  // namespace
}  // namespace fathom::sources::ebpf
