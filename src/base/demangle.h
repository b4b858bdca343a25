// SPDX-License-Identifier: MIT
// Names of functions of C++ and Rust, as compilers write them.
#pragma once

#include <string>

namespace fathom {

// The name that a programmer of C++ or Rust wrote; any other text as it is.
std::string demangle(const std::string& name);

}  // namespace fathom
