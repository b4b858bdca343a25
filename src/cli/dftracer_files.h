// SPDX-License-Identifier: MIT
// The files that DFTracer's programs expect, from the rows of their run as they come.
#pragma once

#include <string>

#include "session/row_stream.h"

namespace fathom::cli {

// Writes them until the last program has ended. A recording that nobody named is gone then.
Result<session::StreamOutcome> write_dftracer_files(const std::string& directory);

}  // namespace fathom::cli
