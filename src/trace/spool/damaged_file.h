// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace fathom::trace {

// A file of a recording that cannot be read, or not whole.
struct DamagedFile {
  std::string path;
  std::string reason;
};

}  // namespace fathom::trace
