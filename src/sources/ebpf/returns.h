// SPDX-License-Identifier: MIT
// Where returns of functions may be probed. The kernel puts an address of its own in the place of
// the return address on the stack. Nothing that walks or moves stacks gets past it: a C++ program
// ends when an exception comes to it, a Go program when its stack is moved.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sources/ebpf/functions.h"
#include "symbols/stack_use.h"

namespace fathom::sources::ebpf {

// Whether the return of a function may be probed, and why not.
struct Judgement {
  Times times = Times::kUnknown;
  std::string why;  // not known, or not everywhere
  bool is_go = false;
};

// Reads each file once, and keeps what it found. One thread at a time. A file that cannot be read
// may do anything with its stacks.
class StackJudge {
 public:
  Judgement judge(const std::string& file, const std::string& function);
  // Why exceptions and the like are to be expected in processes that run it; nothing: none are.
  std::optional<std::string> trouble_of_program(const std::string& file);

 private:
  const Result<symbols::StackFacts>& facts_of(const std::string& file);
  std::optional<std::string> trouble_of(const std::string& file);

  std::map<std::string, Result<symbols::StackFacts>> facts_;
  std::map<std::string, std::optional<std::string>> programs_;
};

}  // namespace fathom::sources::ebpf
