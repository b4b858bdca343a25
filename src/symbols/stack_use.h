// SPDX-License-Identifier: MIT
// What a program or library may do with the stacks of its threads, as far as its file tells. Who
// changes return addresses that lie on a stack, as probes on returns do, has to know: an exception,
// a stack that is moved or switched does not come past one that was changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::symbols {

enum class StackUse : std::uint8_t {
  kPlain,     // nothing speaks for more than calls and returns, and longjmp
  kUnwinds,   // exceptions or panics may pass through its functions
  kSwitches,  // its stacks are moved or switched, or its runtime reads return addresses: Go, OCaml,
              // coroutines
};

// What one file tells; what it loads is asked one by one.
struct StackFacts {
  StackUse use = StackUse::kPlain;
  std::string why;                  // the word in the file that tells, where it is not plain
  std::string name;                 // its own (SONAME); "": none
  bool is_program = false;          // can be run, not only loaded
  bool loads_others = false;        // it asks for dlopen
  std::vector<std::string> needs;   // names of libraries
  std::vector<std::string> places;  // folders where the file says that they lie; "$ORIGIN" stands
                                    // for its own
};

// kNotFound, kCorrupt: no ELF file.
Result<StackFacts> stack_facts_of(const std::string& path);

}  // namespace fathom::symbols
