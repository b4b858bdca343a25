// SPDX-License-Identifier: MIT
// Which columns of the contract a Parquet file lacks. Reads the end of the file alone, without the
// database, so that `fathom info` can tell as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/recording/recording.h"

namespace fathom::analysis {

// "lacks column program", or "lacks columns pid and ts"; "" where all are there, or where the end
// of the file cannot be read.
[[nodiscard]] std::string missing_columns(const trace::DataFile& file, std::string_view table,
                                          int schema);

// Moves files that lack a column to the damaged ones, with the reason.
void set_incomplete_aside(std::vector<trace::Part>& parts);

}  // namespace fathom::analysis
