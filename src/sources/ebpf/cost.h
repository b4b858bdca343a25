// SPDX-License-Identifier: MIT
// What recording costs here and now: measured with calls and functions that do nothing, before
// anybody is recorded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sources/ebpf/functions.h"

namespace fathom::sources::ebpf {

// How the kernel gets over the instruction that a probe was put on.
enum class Step : std::uint8_t {
  kNop5,      // five bytes that do nothing: newer kernels jump from there
  kEmulated,  // it does what the instruction does
  kStepped,   // it lets it run elsewhere, and traps once more
};
inline constexpr std::size_t kSteps = 3;

// By the first bytes of a function, of this machine's architecture.
Step step_of(const std::array<std::uint8_t, 8>& bytes);
// Of a function in a file; kStepped, the dearest, where it cannot be read.
Step step_of(const Function& function);

// One function that does nothing for each Step, in the program that runs.
Result<std::vector<Function>> null_functions();

// ns that a system call takes that does nothing; the least of many tries.
double null_call_ns();
// The same of a function of null_functions().
double null_function_ns(Step step);

// Of a layer: a call that does nothing.
struct CallCost {
  double added_ns = 0;   // to what it takes, where it is recorded
  double others_ns = 0;  // in processes that are not recorded
  double shown_ns = 0;   // the shortest duration that was recorded of it
};

// What recording was measured to cost; nothing where it could not be measured.
struct Costs {
  std::optional<CallCost> system_call;
  std::optional<std::array<double, kSteps>> function;  // added to a call, by its first instruction
};

// Functions whose probes cost more than a microsecond a call, and those that allocate memory, for
// which there is a cheaper way; in words, "" where there is none.
std::string dear_functions(const std::vector<Function>& functions, const Costs& costs);

}  // namespace fathom::sources::ebpf
