// SPDX-License-Identifier: MIT
// The options that leave a part of a recording: --layers, --pid, --name, --from, --to, --where.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/parser.h"
#include "convert/store_stream.h"

namespace fathom::cli {

struct FilterOptions {
  std::vector<std::string> layers, pids, names;
  double from = 0;
  double to = 0;
  std::string condition;
};

void declare_filters(Parser& parser, FilterOptions& options);

// After parse(). kUsage for what cannot be meant.
Result<analysis::RowFilter> filter_of(const Parser& parser, const FilterOptions& options);

}  // namespace fathom::cli
