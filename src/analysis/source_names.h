// SPDX-License-Identifier: MIT
// The database opens Parquet files by descriptors; people know them by their paths.
#pragma once

#include <vector>

#include "base/result.h"
#include "trace/recording/recording.h"

namespace fathom::analysis {

// The error with paths of the recordings in place of what the database calls them.
[[nodiscard]] Error with_path(Error error, const trace::DataFile& file);
[[nodiscard]] Error with_paths(Error error, const std::vector<trace::Part>& parts);

}  // namespace fathom::analysis
