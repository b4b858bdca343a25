// SPDX-License-Identifier: MIT
// Functions that are to be probed: from what the user wrote to places in files, and to names of the
// kernel's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::sources::ebpf {

// Whether it is known how long calls of a function take: see returns.h.
enum class Times : std::uint8_t {
  kKnown,
  kInPlainPrograms,  // where no exception can pass through, as the kernel's half looks up
  kUnknown,          // calls are counted when they begin, and that is all
};

// What stands in the place of a file where a function or a tracepoint is the kernel's.
inline constexpr std::string_view kKernelFile = "kernel";
inline constexpr std::string_view kTracepointFile = "tracepoint";

// A place in a program, a library or the kernel where a probe goes.
struct Function {
  std::string file;  // path
  std::uint64_t offset = 0;
  std::uint64_t semaphore = 0;
  std::string name = {};  // demangled; provider:name of a static probe
  Times times = Times::kKnown;
  std::string why = {};  // times are not known, or not everywhere
  std::string category = {};

  [[nodiscard]] bool is_tracepoint() const { return file == kTracepointFile; }
  [[nodiscard]] bool is_of_kernel() const { return file == kKernelFile || is_tracepoint(); }
};

// A function that was asked for and has no probe.
struct Unprobed {
  std::string name;
  std::string why;
  bool of_kernel = false;
};

// What the user's texts came to. Calls are numbered by their places in `probed`.
struct Functions {
  std::vector<Function> probed;
  std::vector<Unprobed> unprobed;
  std::vector<std::string> remarks;  // on what is counted together
};

// Each text is PATH:NAME (that function alone), PATH:REGEX (all that match),
// usdt:PATH:PROVIDER:NAME (with * and ?), kernel:NAME, kernel:REGEX, tracepoint:NAME or
// tracepoint:REGEX. A PATH without a slash is a library where the loader looks for it. Names of C++
// may be plain ("outer", "outer(int)"). kUsage where it is none of these; kNotFound where there is
// no such file or function, with near ones as its hint.
// Each of `categories` is CATEGORY=NAME or CATEGORY=REGEX, of functions of any file or, with PATH:
// before it, of that one; the first that fits counts. Else it is the name of the file:
// "[libc.so.6]".
// kUnsupported where there are functions, and none of them can be probed. With `returns` the
// returns of all are probed, whatever comes of it.
Result<Functions> find_functions(const std::vector<std::string>& texts,
                                 const std::vector<std::string>& categories = {},
                                 bool returns = false);

// Of --functions: whether it names what the kernel has, and not a file.
bool is_of_kernel(std::string_view text);

// Whether returns of Times::kInPlainPrograms may be probed in processes that run this file.
bool is_plain_program(const std::string& program);

}  // namespace fathom::sources::ebpf
