// SPDX-License-Identifier: MIT
// The names, which a build without the fleet knows too: it says what it lacks.
#include <algorithm>

#include "base/files.h"
#include "cli/old_programs.h"

namespace fathom::cli {
namespace {

constexpr std::string_view kNames[] = {"profiling-server", "profiling-controller",
                                       "profiling-client", "benchmark-client",
                                       "profiling-parser", "profiling-dump"};

}  // namespace

bool is_old_program(std::string_view program) {
  std::string_view name = base_name(program);
  if (name.ends_with(".py")) name.remove_suffix(3);
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace fathom::cli
