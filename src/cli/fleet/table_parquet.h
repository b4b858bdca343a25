// SPDX-License-Identifier: MIT
// A table as a Parquet file.
#pragma once

#include <string>

#include "base/result.h"
#include "base/table.h"

namespace fathom::cli {

// Columns of whole numbers are INT64, of other numbers DOUBLE, all others text.
Status write_table_parquet(const std::string& path, const Table& table);

}  // namespace fathom::cli
