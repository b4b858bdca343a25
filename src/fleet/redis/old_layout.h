// SPDX-License-Identifier: MIT
// profiling-framework's files (docs/formats/profiling-framework.md): a JSON object a line, either a
// node with `execname` and the sum of each event, or a benchmark with `Exectime` and counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model.h"

namespace fathom::fleet {

// {"f": {"execname": "a.out", "cycles": "17"}}: all rows have the same node and exec.
[[nodiscard]] std::string old_node_line(const std::vector<ProfileRow>& rows);

// A record of a benchmark (docs/fleet.md), a line for each of its repetitions. kInvalid where it is
// no such record.
Result<std::vector<std::string>> old_benchmark_lines(std::string_view record);

// What one line of such a file holds.
struct OldLine {
  std::vector<ProfileRow> rows;  // of a node
  std::string record;            // of a benchmark; "": it is a node
};
Result<OldLine> parse_old_line(std::string_view line);

// A benchmark as profiling-framework stored it, {"cache-misses:u": "12,345", "time": "1.25"}, as a
// record of ours with one run.
Result<std::string> record_of_old(std::string_view benchmark);

}  // namespace fathom::fleet
