// SPDX-License-Identifier: MIT
// Files that programs leave in folders where anybody may write: a link, a FIFO, a device or
// somebody else's file is not read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fathom::symbols {

// All of it. Neither the file nor its folder may be a link. kNotFound; kDenied: a link, no plain
// file, or one that neither `owner` nor root has; kUnsupported: more than `most` bytes.
Result<std::string> read_plain_file(const std::string& path, uid_t owner, std::uint64_t most);

}  // namespace fathom::symbols
