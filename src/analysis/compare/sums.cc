// SPDX-License-Identifier: MIT
// One SQL fragment that comparisons and budgets share, so that both mean the same by "time of a
// layer".
#include "analysis/compare/sums.h"

#include <cstdint>

#include "analysis/layer_sql.h"

namespace fathom::analysis {

// Work of devices and of the scheduler goes on beside the threads, or while they wait.
std::string sums_sql() {
  static const std::string kText = layer_sql(R"(sums AS (
      SELECT host, layer, name, category, file, pid, calls, errors, dur, self, dur_min, dur_max,
             bytes, hist, layer NOT IN @beside AS in_threads, once, once_in_file
      FROM @summary
      UNION ALL
      SELECT host, layer, name, NULL, file, pid, calls, errors, dur, dur, dur_min, dur_max, bytes,
             hist, false, true, true
      FROM intervals i
      WHERE NOT EXISTS (SELECT 1 FROM summary s WHERE s.layer = i.layer)))");
  return kText;
}

double number_or_zero(const Value& cell) { return number_in(cell).value_or(0); }

Value value_of(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

}  // namespace fathom::analysis
