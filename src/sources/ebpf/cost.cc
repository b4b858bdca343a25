// SPDX-License-Identifier: MIT
// Runs calls and functions that do nothing with and without probes. The smallest of several rounds
// is the cost; the rest is noise of the machine.
#include "sources/ebpf/cost.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "sources/ebpf/own_memory.h"

extern "C" {
void fathom_null_nop5();
void fathom_null_emulated();
void fathom_null_stepped();
}

namespace fathom::sources::ebpf {
namespace {

constexpr void (*kNullFunctions[kSteps])() = {fathom_null_nop5, fathom_null_emulated,
                                              fathom_null_stepped};
constexpr int kRounds = 12;
constexpr int kCalls = 64;
constexpr double kDear = 1000;  // ns

// The quietest of some rounds: whatever else the machine does only adds to it.
template <class Call>
double least_ns(Call call) {
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t begin = now_monotonic_ns();
    for (int i = 0; i < kCalls; ++i) call();
    least = std::min(least, static_cast<double>(now_monotonic_ns() - begin) / kCalls);
  }
  return least;
}

// Of the C library, by all names that it gives them. A program may call them more often than
// anything else.
bool allocates(std::string_view name) {
  if (name.starts_with("__libc_")) name.remove_prefix(7);
  constexpr std::string_view kNames[] = {"malloc",   "free",         "calloc",
                                         "realloc",  "reallocarray", "posix_memalign",
                                         "memalign", "aligned_alloc"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

Step step_of(const std::array<std::uint8_t, 8>& bytes) {
#if defined(__x86_64__)
  constexpr std::array<std::uint8_t, 5> kNop5 = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  if (std::equal(kNop5.begin(), kNop5.end(), bytes.begin())) return Step::kNop5;
  const std::uint8_t code = bytes[0];
  const bool push = (code & 0xf8) == 0x50 || (code == 0x41 && (bytes[1] & 0xf8) == 0x50);
  const bool nop = code == 0x90 || (code == 0x66 && bytes[1] == 0x90);
  const bool jump = code == 0xe8 || code == 0xe9 || code == 0xeb || (code & 0xf0) == 0x70 ||
                    (code == 0x0f && (bytes[1] & 0xf0) == 0x80);
  return push || nop || jump ? Step::kEmulated : Step::kStepped;
#elif defined(__aarch64__)
  const std::uint32_t code =
      bytes[0] | bytes[1] << 8U | bytes[2] << 16U | static_cast<std::uint32_t>(bytes[3]) << 24U;
  constexpr std::uint32_t kNop = 0xd503201f;
  if (code == kNop) return Step::kNop5;
  const bool jump = (code & 0x7c000000U) == 0x14000000U || (code & 0xff000010U) == 0x54000000U;
  return jump ? Step::kEmulated : Step::kStepped;
#else
  return Step::kStepped;
#endif
}

Step step_of(const Function& function) {
  std::array<std::uint8_t, 8> bytes{};
  const Fd file(::open(function.file.c_str(), O_RDONLY | O_CLOEXEC));
  const auto offset = static_cast<off_t>(function.offset);
  if (!file.valid() || ::pread(file.get(), bytes.data(), bytes.size(), offset) <= 0)
    return Step::kStepped;
  return step_of(bytes);
}

Result<std::vector<Function>> null_functions() {
  FATHOM_ASSIGN(const std::string maps, read_file("/proc/self/maps"));
  std::vector<Function> functions;
  for (void (*function)() : kNullFunctions) {
    FATHOM_ASSIGN(const MappedPlace place,
                  place_of(reinterpret_cast<std::uint64_t>(function), maps));
    functions.push_back({.file = "/proc/self/exe", .offset = place.offset});
  }
  return functions;
}

double null_call_ns() {
  return least_ns([] { ::syscall(SYS_getppid); });
}

double null_function_ns(Step step) {
  return least_ns(kNullFunctions[static_cast<std::size_t>(step)]);
}

std::string dear_functions(const std::vector<Function>& functions, const Costs& costs) {
  constexpr std::size_t kNamed = 3;
  if (!costs.function) return "";
  std::vector<std::string> named;
  std::size_t dear = 0;
  bool any_allocates = false;
  for (const Function& function : functions) {
    if (function.is_of_kernel()) continue;
    const double ns = costs.function->at(static_cast<std::size_t>(step_of(function)));
    const bool for_heap = allocates(function.name);
    if (ns <= kDear && !for_heap) continue;
    any_allocates |= for_heap;
    if (++dear <= kNamed) named.push_back(human_ns(ns) + " (" + function.name + ")");
  }
  if (dear == 0) return "";
  std::string text = "these probes are expensive; each call takes longer by " + join(named, ", ");
  if (dear > kNamed) text += " and " + std::to_string(dear - kNamed) + " more";
  if (any_allocates) text += "; layer heap counts allocations for less: --layers +heap";
  return text;
}

}  // namespace fathom::sources::ebpf
