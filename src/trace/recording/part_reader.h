// SPDX-License-Identifier: MIT
// One recording directory, read while a recorder may drain and pack it. Nothing is written, and no
// lock file is made. Included by .cc files of this room only.
#pragma once

#include "base/directory.h"
#include "base/result.h"
#include "trace/recording/recording.h"

namespace fathom::trace {

// kNotFound, kCorrupt or kUnsupported in one line; damaged files of tables are listed in the part
// instead.
Result<Part> read_part(const Directory& directory, const DecoderOptions& options, Need need);

}  // namespace fathom::trace
