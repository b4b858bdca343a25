// SPDX-License-Identifier: MIT
// Who called a function of Python before, as stacks showed that were whole. Helps where a function
// has ended before its callers were read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sources/perf/python/frame_reader.h"

namespace fathom::sources {

class KnownCallers {
 public:
  void learn(const PythonStack& stack) {
    if (callers_.size() > kMostFunctions) callers_.clear();
    for (std::size_t i = 0; i + 1 < stack.frames.size(); i++)
      if (!stack.frames[i].ends_entry) learn(*stack.frames[i].code, stack.frames[i + 1]);
  }

  // Those of a function; the last seen stands last.
  [[nodiscard]] const std::vector<PythonFrame>& of(const PythonCode& callee) const {
    static const std::vector<PythonFrame> kNobody;
    const auto found = callers_.find(callee.address);
    return found == callers_.end() ? kNobody : found->second;
  }
  [[nodiscard]] bool has(const PythonCode& callee, const PythonCode& caller) const {
    return std::ranges::any_of(
        of(callee), [&](const PythonFrame& one) { return one.code->address == caller.address; });
  }

  // Whether one led to the other, by way of at most so many between them.
  [[nodiscard]] bool leads_to(const PythonCode& caller, const PythonCode& callee,
                              int between = 4) const {
    if (has(callee, caller)) return true;
    if (between == 0) return false;
    return std::ranges::any_of(of(callee), [&](const PythonFrame& one) {
      return one.code->address != callee.address && leads_to(caller, *one.code, between - 1);
    });
  }

 private:
  static constexpr std::size_t kMostFunctions = 16384;
  static constexpr std::size_t kMostCallers = 16;

  void learn(const PythonCode& callee, const PythonFrame& caller) {
    std::vector<PythonFrame>& known = callers_[callee.address];
    std::erase_if(
        known, [&](const PythonFrame& one) { return one.code->address == caller.code->address; });
    if (known.size() >= kMostCallers) known.erase(known.begin());
    known.push_back(caller);
  }

  std::unordered_map<std::uint64_t, std::vector<PythonFrame>> callers_;  // by the callee's code
};

}  // namespace fathom::sources
