// SPDX-License-Identifier: MIT
// Of several functions that tell of a wait, the one of the cause that stands first in wait_causes.h
// counts.
#include "analysis/live/stack_words.h"

#include <cstddef>
#include <iterator>
#include <unordered_map>

#include "analysis/wait_causes.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kUnknown = "[unknown]";

// Rank of the cause, by function.
const std::unordered_map<std::string_view, std::size_t>& ranks() {
  static const auto* const kRanks = [] {
    auto* all = new std::unordered_map<std::string_view, std::size_t>();
    for (std::size_t rank = 0; rank < std::size(kWaitCauses); rank++) {
      for (const std::string_view name : split(kWaitCauses[rank].functions, ' '))
        all->emplace(name, rank);
    }
    return all;
  }();
  return *kRanks;
}

bool is_kernel(const StackFrame& frame) { return frame.module.starts_with("[kernel"); }

bool is_library(const StackFrame& frame) {
  const std::string_view name = base_name(frame.module);
  return name.starts_with("lib") || name.starts_with("ld-") || name == "[vdso]";
}

// Without what a C library puts in front of its own names.
std::string_view plain_name(const StackFrame& frame) {
  std::string_view name = frame.function;
  if (is_kernel(frame)) return name;
  if (name.starts_with("__GI_")) name.remove_prefix(5);
  while (name.starts_with('_')) name.remove_prefix(1);
  if (name.starts_with("libc_")) name.remove_prefix(5);
  while (name.starts_with('_')) name.remove_prefix(1);
  return name;
}

// The last function outside of the kernel; "" where there is none.
std::string_view last_of_program(std::span<const StackFrame> frames) {
  std::string_view last;
  for (const StackFrame& frame : frames) {
    if (!is_kernel(frame)) last = frame.function;
  }
  return last;
}

std::string_view caller_of(std::span<const StackFrame> frames, std::string_view call) {
  std::string_view caller;
  for (const StackFrame& frame : frames) {
    if (!is_kernel(frame) && !is_library(frame) && plain_name(frame) != call)
      caller = frame.function;
  }
  return caller;
}

}  // namespace

StackWords words_of(std::span<const StackFrame> frames) {
  StackWords words;
  words.ran = frames.empty() || frames.back().function.empty() ? kUnknown : frames.back().function;
  std::size_t best = std::size(kWaitCauses);
  std::string_view call;
  for (const StackFrame& frame : frames) {
    const auto found = ranks().find(plain_name(frame));
    if (found == ranks().end() || found->second >= best) continue;
    best = found->second;
    call = found->first;
  }
  const bool known = best < std::size(kWaitCauses);
  words.cause = known ? kWaitCauses[best].cause : "other";
  if (!known) call = last_of_program(frames);
  words.wait = call.empty() ? kUnknown : call;
  const std::string_view caller = caller_of(frames, call);
  if (!caller.empty() && caller != words.wait) words.wait += " in " + std::string(caller);
  return words;
}

}  // namespace fathom::analysis
