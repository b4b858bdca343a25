// SPDX-License-Identifier: MIT
// The operating system's error numbers as names and as our Error.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom {

// "ENOENT"; "" for 0; "errno 4095" for a number that this libc has no name for.
[[nodiscard]] std::string errno_name(int number);

// "open /x: No such file or directory", with the Code that fits the number.
[[nodiscard]] Error os_error(int number, std::string_view what, std::string hint = "");

}  // namespace fathom
