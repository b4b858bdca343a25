// SPDX-License-Identifier: MIT
// `fathom export --format html`: the page with its data inside. A build without the page says so.
#pragma once

#include <string>

#include "analysis/row_filter.h"
#include "base/result.h"

namespace fathom::cli {

// `trace` as a user names it; "-" is standard output.
Status export_page(const std::string& trace, analysis::RowFilter filter, const std::string& output);

}  // namespace fathom::cli
