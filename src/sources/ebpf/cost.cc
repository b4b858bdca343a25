// SPDX-License-Identifier: MIT
#include "sources/ebpf/cost.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"

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

std::optional<std::uint64_t> read_hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A place in memory as one in the file that is mapped there.
Result<Function> function_at(std::uint64_t address, std::string_view maps) {
  for (const std::string_view line : split(maps, '\n')) {
    const std::size_t dash = line.find('-');
    const std::vector<std::string_view> words = split(line, ' ');  // range rights offset …
    if (dash == std::string_view::npos || words.size() < 3 || words[0].size() <= dash) continue;
    const auto from = read_hex(words[0].substr(0, dash));
    const auto to = read_hex(words[0].substr(dash + 1));
    const auto offset = read_hex(words[2]);
    if (!from || !to || !offset || address < *from || address >= *to) continue;
    return Function{.file = "/proc/self/exe",
                    .offset = address - *from + *offset,
                    .semaphore = 0,
                    .name = "",
                    .is_point = false};
  }
  return Error{Code::kNotFound, "our own code is mapped nowhere", ""};
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
    FATHOM_ASSIGN(Function found, function_at(reinterpret_cast<std::uint64_t>(function), maps));
    functions.push_back(std::move(found));
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
    const double ns = costs.function->at(static_cast<std::size_t>(step_of(function)));
    const bool for_heap = allocates(function.name);
    if (ns <= kDear && !for_heap) continue;
    any_allocates |= for_heap;
    if (++dear <= kNamed) named.push_back(human_ns(ns) + " (" + function.name + ")");
  }
  if (dear == 0) return "";
  std::string text = "probes are dear: a call takes longer by " + join(named, ", ");
  if (dear > kNamed) text += " and " + std::to_string(dear - kNamed) + " more";
  if (any_allocates) text += "; layer heap counts allocations for less: --layers +heap";
  return text;
}

}  // namespace fathom::sources::ebpf
