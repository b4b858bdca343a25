// SPDX-License-Identifier: MIT
// What a job has, as a file: .csv and .parquet by its name, else as profiling-framework writes it,
// a JSON object a line.
#pragma once

#include <string>

#include "base/result.h"
#include "fleet/store.h"

namespace fathom::cli {

// The file is there when it is whole; what had its name before is replaced then.
Status write_profile(fleet::JobStore& store, const std::string& job, const std::string& path,
                     bool safe_csv);
// Of benchmarks in profiling-framework's layout a line for each repetition; of other kinds the
// records as they are.
Status write_records(fleet::JobStore& store, const std::string& job, const std::string& kind,
                     const std::string& path, bool safe_csv);

}  // namespace fathom::cli
