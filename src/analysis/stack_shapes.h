// SPDX-License-Identifier: MIT
// The stacks of samples with their functions, each once: what trees and strips of samples are made
// of. Memory grows with distinct stacks and functions.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/stack_tree.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

struct StackFunction {
  std::string name;    // "unknown" where nobody knows it
  std::string module;  // ""
};

// One thread at a time.
class StackShapes {
 public:
  // Those of the samples that a condition chooses.
  Status load(Store& store, const std::string& samples_where);

  [[nodiscard]] const StackFunction& function(std::uint32_t number) const {
    return functions_[number];
  }
  // Functions from the outermost to the innermost; none where the stack is not known.
  [[nodiscard]] std::vector<std::uint32_t> path(std::int64_t stack) const;

 private:
  std::uint32_t number_of(std::string name, std::string module);

  std::vector<StackFunction> functions_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  StackTree tree_;
  std::unordered_map<std::int64_t, std::uint32_t> stacks_;  // to the innermost node of tree_
};

}  // namespace fathom::analysis
