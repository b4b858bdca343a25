// SPDX-License-Identifier: MIT
// Views that rules (and anybody's SQL) start from:
//   totals   one row: wall, thread_time (the lives of all threads), in_calls, threads, processes,
//            events, and begin (0 where all of the run is looked at)
//   io       the summary's rows of reads and writes of real files by stdio and posix, with
//            `direction` read or write, `small` calls of less than 64 KiB, and `random` ones that
//            neither go on where the one before ended nor farther forward
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

// `wall`: of the run, where it is known already.
Status create_rule_views(sql::Connection& connection, std::optional<std::int64_t> wall);

// The SELECT of view totals, for a part of a run too.
[[nodiscard]] std::string totals_sql(std::optional<std::int64_t> wall, std::int64_t begin);

}  // namespace fathom::analysis
