// SPDX-License-Identifier: MIT
// Some of DuckDB's table functions act though a SELECT calls them: enable_logging writes files,
// query runs any text, arrow_scan takes addresses. Included by .cc files of this room only.
#pragma once

#include <string>

#include "base/result.h"
#include "sql/duckdb_api.h"

namespace fathom::sql {

// Passes a text that DuckDB parses as queries whose FROM calls only functions that read. Nothing of
// it is bound or run.
Status check_selects(const DuckdbApi& api, duckdb_connection connection, const std::string& sql);

}  // namespace fathom::sql
