// SPDX-License-Identifier: MIT
// Somebody else's command line tool (sbatch, docker), run to its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::fleet {

struct ToolRun {
  int exit = 0;
  std::string out;  // at most kMostToolOutput of each
  std::string err;
};
inline constexpr std::size_t kMostToolOutput = std::size_t{8} << 20U;

// An Error where there is no such program, or it does not end in time.
Result<ToolRun> run_tool(const std::vector<std::string>& words,
                         std::int64_t timeout_ns = 60'000'000'000);
// An Error where it fails, too, with the first line that it said.
Result<std::string> run_tool_well(const std::vector<std::string>& words,
                                  std::int64_t timeout_ns = 60'000'000'000);

}  // namespace fathom::fleet
