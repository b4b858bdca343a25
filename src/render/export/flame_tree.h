// SPDX-License-Identifier: MIT
// The stacks of a recording folded for a flame graph: a function once under each caller, whatever
// line of it was sampled and whichever process of its program. Memory grows with distinct stacks.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "render/export/event_stream.h"
#include "render/export/stack_choice.h"
#include "render/export/stacks.h"

namespace fathom::render {

enum class FlameKind : std::uint8_t {
  kGroup,   // everything, an event, a program
  kNative,  // C, C++ and whatever else was compiled
  kPython,
  kKernel,
  kOther,  // a call of a layer, code of a JIT, code that nobody knows the module of
};
[[nodiscard]] std::string_view kind_name(FlameKind kind);  // for people

struct FlameName {
  std::string text;
  std::string module = {};
  FlameKind kind = FlameKind::kGroup;
};

// A plain value: laid out by flame_layout.h, drawn by flame_svg.h and by formats of other tools.
struct FlameTree {
  std::vector<FlameName> names;
  StackSums stacks;  // frames are numbers of names
  std::uint32_t root = StackTree::kRoot;
  std::vector<StackSums::Sum> totals;  // by node
  bool is_time = true;                 // amounts are ns
  std::string what;                    // "CPU time"
  std::string remark;                  // on what is not in it; may be empty

  [[nodiscard]] const FlameName& name(std::uint32_t node) const {
    return names[stacks.tree.node(node).frame];
  }
  [[nodiscard]] std::int64_t total() const { return totals[root].amount; }
};

// kNotFound, with a hint, where nothing has that weight.
Result<FlameTree> load_flames(EventStream& from, StackWeight weight);

}  // namespace fathom::render
