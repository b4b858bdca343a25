// SPDX-License-Identifier: MIT
// Views that rules (and anybody's SQL) start from:
//   totals   one row: wall, life (of all threads: 100 % of their time), thread_time (the same, but
//            never less than in_calls, and wall where no thread is known), in_calls, threads,
//            processes, events, and begin (0 where all of the run is looked at)
//   data_calls  the summary's rows of stdio and posix on files that the program works on: no
//            libraries, no modules of interpreters, nothing in /proc, /sys and /dev
//   io       those of them that read and write, with `direction` read or write, `small` calls of
//            less than 64 KiB, `random` ones that neither go on where the one before ended nor
//            farther forward, `typical`, the ns of a call without the few slow ones,
//            `small_bytes` and `small_time` of the small calls, and `placed`, the bytes where the
//            place of each call is known
//   machine  one row: busy, the percentage of its CPUs that were in use, whoever used them, and
//            crowded, which is true from 90 % on
//   pace     one row: at_once, how many threads were in calls of these layers at once on average.
//            Time of threads divided by it is time of the run.
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
