// SPDX-License-Identifier: MIT
// What a sampled stack ran, and what it waited in where it was off the CPU, in words of
// wait_causes.h. The view `waits` tells more of a wait: the call that was open, and its file.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fathom::analysis {

struct StackFrame {
  std::string_view function;
  std::string_view module;
};

struct StackWords {
  std::string ran;    // the innermost function
  std::string cause;  // as in wait_causes.h, or "other"
  std::string wait;   // "pthread_mutex_lock in push"
};

// Frames outermost first.
[[nodiscard]] StackWords words_of(std::span<const StackFrame> frames);

}  // namespace fathom::analysis
