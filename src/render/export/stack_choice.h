// SPDX-License-Identifier: MIT
// Which stacks a format of stacks shows (--weight), and against what (--differential).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::render {

struct FlameTree;

enum class StackWeight : std::uint8_t {
  kOwn,     // the format's own choice
  kCpu,     // samples that were taken on a CPU
  kOffCpu,  // stretches off the CPU
  kAll,     // both
  kCalls,   // recorded calls, by self time
};

struct StackChoice {
  StackWeight weight = StackWeight::kOwn;
  const FlameTree* base = nullptr;  // what the change is shown against
};

// kUsage, with the words that there are.
Result<StackWeight> parse_weight(std::string_view text);

}  // namespace fathom::render
