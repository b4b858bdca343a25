// SPDX-License-Identifier: MIT
// Every way to put programs at functions, whichever this kernel would choose by itself.
#include "sources/ebpf/uprobes.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
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

void follow(int tasks, bool yes) {
  const Fd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const int key = self.get();
  fathom_task state{};
  state.on = 1;
  EXPECT_EQ(
      yes ? bpf_map_update_elem(tasks, &key, &state, BPF_ANY) : bpf_map_delete_elem(tasks, &key),
      0);
}

Counts counts_by(const Module& module, const Loaded& first, std::string& refusal) {
  Result<Loaded> loaded = load_module(module, {}, &first);
  Result<std::vector<Function>> functions = null_functions();
  if (!loaded || !functions) {
    refusal = loaded ? "no functions" : loaded.error().message;
    return {};
  }
  functions->back().is_point = true;
  const Status ready = set_up(*loaded, {});
  const Status attached = attach_functions(*loaded, *functions, 7);
  if (!ready || !attached) {
    refusal = (ready ? attached : ready).error().message;
    return {};
  }
  null_function_ns(Step::kEmulated);  // nobody is followed: not counted
  follow(first.map("tasks"), true);
  for (std::size_t i = 0; i < kSteps; ++i) null_function_ns(static_cast<Step>(i));
  follow(first.map("tasks"), false);
  return counts_of(first.map("sums"));
}

TEST(EbpfUprobes, EveryWayCounts) {
  constexpr std::uint64_t kCalls = 12 * 64;  // of null_function_ns()
  int ways = 0;
  for (const Module& module : kModules) {
    if (module.layer != FATHOM_BPF_USER) continue;
    const Result<Loaded> first = load_module(kModules[0], {}, nullptr);
    if (!first) GTEST_SKIP() << first.error().message;
    std::string refusal;
    const Counts counts = counts_by(module, *first, refusal);
    if (!refusal.empty()) {
      std::printf("%s: %s\n", std::string(module.what).c_str(), refusal.c_str());
      continue;
    }
    ++ways;
    EXPECT_EQ(counts, (Counts{{7, kCalls}, {8, kCalls}, {9, kCalls}})) << module.what;
  }
  EXPECT_GT(ways, 0);
}

}  // namespace
}  // namespace fathom::sources::ebpf
