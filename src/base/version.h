// SPDX-License-Identifier: MIT
// The version of the program, as CMakeLists.txt states it. The recording's schema has a version of
// its own.
#pragma once

#include <string_view>

namespace fathom {

[[nodiscard]] std::string_view version();  // "0.1.0"

}  // namespace fathom
