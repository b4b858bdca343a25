// SPDX-License-Identifier: MIT
// What Slurm's command line tools print, as values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::fleet {

// A job's number of `sbatch --parsable`: "17" or "17;cluster".
[[nodiscard]] std::optional<std::string> parse_sbatch(std::string_view text);

struct SlurmTask {
  std::string state;  // "PENDING", "RUNNING", "COMPLETING", …
  std::string node;
  std::string reason;
};
// The format that parse_squeue() reads.
inline constexpr char kSqueueFormat[] = "%i|%T|%N|%r";
// Tasks by "JOB_TASK"; lines that are none are passed over.
[[nodiscard]] std::map<std::string, SlurmTask> parse_squeue(std::string_view text);

}  // namespace fathom::fleet
