// SPDX-License-Identifier: MIT
// The files that programs expect which were made for another tool.
#pragma once

#include <string>

#include "session/row_stream.h"

namespace fathom::cli {

// Writes them until the last program has ended. A recording that nobody named is gone then.
Result<session::StreamOutcome> write_drop_in_files(const std::string& directory);

}  // namespace fathom::cli
