// SPDX-License-Identifier: MIT
// A list of commands to run one after the other: lines `x DIR x CMD ARGS…`, as `cd DIR && CMD ARGS`
// stands in the log of a build.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::fleet {

struct LoggedCommand {
  std::string directory;
  std::vector<std::string> words;
  bool operator==(const LoggedCommand&) const = default;
};

inline constexpr std::size_t kMostLogBytes = std::size_t{256} << 20;

// Quotes and backslashes mean what they mean to a shell; nothing is expanded. With a `program`,
// what follows `x DIR x` are its arguments. Empty lines are left out. kInvalid names the line that
// cannot be read: nothing should run then.
Result<std::vector<LoggedCommand>> parse_command_log(std::string_view text,
                                                     const std::string& program);

}  // namespace fathom::fleet
