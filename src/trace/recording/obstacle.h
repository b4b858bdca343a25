// SPDX-License-Identifier: MIT
// Why a program cannot take the library in.
#pragma once

#include <string>
#include <string_view>

namespace fathom::trace {

inline constexpr std::string_view kFewAddresses =
    "too little address space (ulimit -v) to load a library";
inline constexpr std::string_view kSmallStack = "a stack too small to load a library";

// "static binary", "set-user-id", "32 bits", "another architecture", "another libc (…)"; "" if
// nothing speaks against it or the file cannot be read. Follows `#!` lines. `library` is
// libfathom.so's path: its machine is the one that fits; "" takes ours.
std::string obstacle_of(const std::string& program, const std::string& library);

// Whether the program's loader would end it, or complain on its stderr, if it were told to load the
// library: it is started without.
bool turns_library_away(const std::string& program, const std::string& library);

}  // namespace fathom::trace
