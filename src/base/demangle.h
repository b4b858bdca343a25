// SPDX-License-Identifier: MIT
// Names of C++ functions, as compilers write them.
#pragma once

#include <string>

namespace fathom {

// The name that a C++ programmer wrote; any other text as it is.
std::string demangle(const std::string& name);

}  // namespace fathom
