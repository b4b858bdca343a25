// SPDX-License-Identifier: MIT
// A file of its own, because readers of spools and of recordings, reports and the server all name
// damage in this form.
#pragma once

#include <string>

namespace fathom::trace {

// A file of a recording that cannot be read, or not whole.
struct DamagedFile {
  std::string path;
  std::string reason;
};

}  // namespace fathom::trace
