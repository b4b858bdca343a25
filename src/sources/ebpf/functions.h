// SPDX-License-Identifier: MIT
// Functions of programs and libraries that are to be probed: from what the user wrote to places in
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::sources::ebpf {

struct Function {
  std::string file;  // path
  std::uint64_t offset = 0;
  std::uint64_t semaphore = 0;
  std::string name;       // demangled; provider:name of a static probe
  bool is_point = false;  // passed, not called: it has no duration
  std::string category = {};
};

// Each text is PATH:NAME (that function alone), PATH:REGEX (all that match), or
// usdt:PATH:PROVIDER:NAME. A PATH without a slash is a library where the loader looks for it.
// kUsage where it is none of these; kNotFound where there is no such file or function.
// Each of `categories` is CATEGORY=NAME or CATEGORY=REGEX, of functions of any file or, with PATH:
// before it, of that one; the first that fits counts. Else it is the name of the file:
// "[libc.so.6]".
Result<std::vector<Function>> find_functions(const std::vector<std::string>& texts,
                                             const std::vector<std::string>& categories = {});

}  // namespace fathom::sources::ebpf
