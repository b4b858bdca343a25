// SPDX-License-Identifier: MIT
// What a foreign trace calls a function of libc, in our words: the plain name, its category, what
// its result means. The names and categories are those that sources/posix and sources/stdio declare
// for recordings of ours.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::analysis {

enum class CallResult : std::uint8_t {
  kOther,
  kBytes,  // bytes moved
  kItems,  // items moved: bytes = result times the size of one
};

struct CallName {
  std::string_view plain;     // "open" for `open64` and `__open_2`
  std::string_view category;  // "" for a call that we do not know
  CallResult result = CallResult::kOther;
};

// `layer` is "posix" or "stdio". The views point into `name` or live forever.
[[nodiscard]] CallName call_name(std::string_view layer, std::string_view name);

}  // namespace fathom::analysis
