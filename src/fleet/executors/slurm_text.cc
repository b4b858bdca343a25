// SPDX-License-Identifier: MIT
// Parses what sbatch and squeue print. It runs nothing, so tests give it text; slurm.cc runs the
// tools.
#include "fleet/executors/slurm_text.h"

#include <algorithm>

#include "base/text.h"

namespace fathom::fleet {
namespace {

bool is_number(std::string_view text) {
  constexpr std::size_t kDigits = 18;
  return !text.empty() && text.size() <= kDigits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_task(std::string_view text) {
  const std::size_t stroke = text.find('_');
  return is_number(text.substr(0, stroke)) &&
         (stroke == std::string_view::npos || is_number(text.substr(stroke + 1)));
}

}  // namespace

std::optional<std::string> parse_sbatch(std::string_view text) {
  const std::string_view line = trim(text);
  const std::string_view number = line.substr(0, line.find(';'));
  if (!is_number(number)) return std::nullopt;
  return std::string(number);
}

std::map<std::string, SlurmTask> parse_squeue(std::string_view text) {
  constexpr std::size_t kFields = 4;
  std::map<std::string, SlurmTask> tasks;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> fields = split(trim(line), '|');
    if (fields.size() < kFields || !is_task(fields[0])) continue;
    tasks[std::string(fields[0])] = {std::string(fields[1]), std::string(fields[2]),
                                     std::string(fields[3])};
  }
  return tasks;
}

}  // namespace fathom::fleet
