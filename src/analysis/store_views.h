// SPDX-License-Identifier: MIT
// Makes the views of a store out of opened recordings. Used by store.cc alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"
#include "trace/recording/recording.h"

namespace fathom::analysis {

// All views and tables of the contract; without `events` where they are not needed and tails have
// only sums. Registers the tails' rows. Parquet files that cannot be
// opened go to their part's `damaged`.
Status make_views(sql::Connection& connection, std::vector<trace::Part>& parts,
                  const std::vector<std::int64_t>& shifts, trace::Need need);

}  // namespace fathom::analysis
