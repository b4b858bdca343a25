// SPDX-License-Identifier: MIT
// A socket in the file system that only its owner can connect to.
#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "base/scratch.h"

namespace fathom::serve {

struct UnixListener {
  Fd socket;           // listens
  TemporaryPath path;  // gone with its owner
};

// With mode 0600 from its first moment on. What a server of this user left there and nobody listens
// at any more is replaced; anything else stays, and is an error. kDenied: others could exchange the
// directory.
Result<UnixListener> listen_at(const std::string& path);

}  // namespace fathom::serve
