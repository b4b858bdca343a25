// SPDX-License-Identifier: MIT
// The parts of a run that views look at on their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::analysis {

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
[[nodiscard]] std::string scope_columns_sql(const Scope& scope, std::string_view prefix = "");

}  // namespace fathom::analysis
