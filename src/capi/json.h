// SPDX-License-Identifier: MIT
// What the C functions hand out as JSON: <fathom/query.h> says how it looks.
#pragma once

#include <string>

#include "analysis/report.h"
#include "analysis/store.h"
#include "base/table.h"

namespace fathom::capi {

// The calling thread has the store for itself.
std::string description_json(analysis::Store& store);
std::string views_json();
std::string report_json(const analysis::Report& report);
std::string columns_json(const std::vector<std::string>& columns);
std::string rows_json(const Table& rows);

}  // namespace fathom::capi
