// SPDX-License-Identifier: MIT
// Files that programs leave in folders where anybody may write: a link, a FIFO, a device or
// somebody else's file is not read.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace fathom::symbols {

// A name in a folder that is open. kNotFound; kDenied: a link, no plain file, or one that neither
// `owner` nor root has.
Result<Fd> open_plain_file(int folder, const std::string& name, uid_t owner);

}  // namespace fathom::symbols
