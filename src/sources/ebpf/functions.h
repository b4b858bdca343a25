// SPDX-License-Identifier: MIT
// Functions of programs and libraries that are to be probed: from what the user wrote to places in
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::sources::ebpf {

// Whether it is known how long calls of a function take: see returns.h.
enum class Times : std::uint8_t {
  kKnown,
  kInPlainPrograms,  // where no exception can pass through, as the kernel's half looks up
  kUnknown,          // calls are counted when they begin, and that is all
};

struct Function {
  std::string file;  // path
  std::uint64_t offset = 0;
  std::uint64_t semaphore = 0;
  std::string name = {};  // demangled; provider:name of a static probe
  Times times = Times::kKnown;
  std::string why = {};  // times are not known, or not everywhere
  std::string category = {};
};

// A function that was asked for and has no probe.
struct Unprobed {
  std::string name;
  std::string why;
};

struct Functions {
  std::vector<Function> probed;
  std::vector<Unprobed> unprobed;
  std::vector<std::string> remarks;  // on what is counted together
};

// Each text is PATH:NAME (that function alone), PATH:REGEX (all that match), or
// usdt:PATH:PROVIDER:NAME. A PATH without a slash is a library where the loader looks for it.
// kUsage where it is none of these; kNotFound where there is no such file or function.
// Each of `categories` is CATEGORY=NAME or CATEGORY=REGEX, of functions of any file or, with PATH:
// before it, of that one; the first that fits counts. Else it is the name of the file:
// "[libc.so.6]".
// kUnsupported where there are functions, and none of them can be probed. With `returns` the
// returns of all are probed, whatever comes of it.
Result<Functions> find_functions(const std::vector<std::string>& texts,
                                 const std::vector<std::string>& categories = {},
                                 bool returns = false);

// Whether returns of Times::kInPlainPrograms may be probed in processes that run this file.
bool is_plain_program(const std::string& program);

}  // namespace fathom::sources::ebpf
