// SPDX-License-Identifier: MIT
// Builds the extension that traces one more interpreter, from the sources that lie beside
// libfathom.so, into a directory of this user where libfathom.so finds it.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::session {

struct Built {
  std::string version;  // "3.9.18"
  std::string path;     // of the extension
};

// `interpreter` as a path or a name on PATH. Needs its headers and a C compiler; an error says
// which is missing. What was there before is replaced at once, or stays.
Result<Built> build_extension(const std::string& interpreter);

}  // namespace fathom::session
