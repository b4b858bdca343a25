// SPDX-License-Identifier: MIT
// Why a program cannot take the library in.
#pragma once

#include <string>

namespace fathom::trace {

// "static binary", "set-user-id", "another architecture", "another libc (…)"; "" if nothing speaks
// against it or the file cannot be read. Follows `#!` lines. `library` is libfathom.so's path: its
// machine is the one that fits; "" takes ours.
std::string obstacle_of(const std::string& program, const std::string& library);

}  // namespace fathom::trace
