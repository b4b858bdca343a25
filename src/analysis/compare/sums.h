// SPDX-License-Identifier: MIT
// What comparisons and budgets read in place of events: one set of rows for calls that were
// recorded each and for calls that were only counted.
#pragma once

#include <optional>
#include <string>

#include "base/cell.h"
#include "base/table.h"

namespace fathom::analysis {

// A table expression of one name, `sums`, to stand behind WITH: host, layer, name, category, file,
// pid, calls, errors, dur, self, dur_min, dur_max, bytes, hist, in_threads, once, once_in_file.
// Rows are those of `summary`, and those of `intervals` for layers that have no summary; these have
// no self time of their own, so that `self` is their whole duration. in_threads: the self time is
// part of the threads' time, and of no other row's. once, once_in_file: no
// layer above tells of these calls, too (layer_sql.h).
[[nodiscard]] std::string sums_sql();

[[nodiscard]] double number_or_zero(const Value& cell);

// NULL where there is nothing.
[[nodiscard]] Value value_of(const std::optional<double>& number);

}  // namespace fathom::analysis
