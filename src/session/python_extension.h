// SPDX-License-Identifier: MIT
// Builds the extensions for one more interpreter, from the sources that lie beside libfathom.so,
// into directories of this user: the one that traces it, where libfathom.so finds it, and the
// native module of DFTracer's drop-in.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::session {

struct Built {
  std::string version;  // "3.9.18"
  std::string path;     // of the extension that traces it
};

// `interpreter` as a path or a name on PATH. Needs its headers and a C compiler; an error says
// which is missing. What was there before is replaced at once, or stays.
Result<Built> build_extension(const std::string& interpreter);

}  // namespace fathom::session
