// SPDX-License-Identifier: MIT
// What threads were doing, and when that changed. SQL view `turns`: host, pid, tid, ts, io,
// region_io, compute: at that time so many more (or fewer) threads are in a call or region of that
// kind and in nothing inside it. Calls inside one of their own kind make no row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

// The view events exists.
Status create_turns_view(sql::Connection& connection);

// What an event counts as: 'io' (stdio and posix, but for waiting and processes), 'region_io' (a
// region whose category says so), 'compute' (other regions and functions, and what GPUs do), or
// 'other'.
[[nodiscard]] std::string kind_sql();

// The columns that tell the parts of a run apart that are looked at on their own: none for the
// run, then host, process, thread.
struct Scope {
  std::string_view name;
  std::vector<std::string> keys;
};
[[nodiscard]] const std::vector<Scope>& scopes();
// The scope that --by names: the finest of host, pid, tid in it.
[[nodiscard]] const Scope& scope_of(const std::vector<std::string>& by);
// "'process' AS scope, host, pid, CAST(NULL AS INTEGER) AS tid"
[[nodiscard]] std::string scope_columns_sql(const Scope& scope);

}  // namespace fathom::analysis
