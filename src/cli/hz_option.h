// SPDX-License-Identifier: MIT
// --sample-resources HZ, of every command that samples.
#pragma once

#include <fmt/format.h>

#include "base/result.h"
#include "cli/parser.h"

namespace fathom::cli {

inline void declare_hz(Parser& parser, double& hz) {
  parser.option("--sample-resources,--hz", hz, "HZ", "resource samples per second (default: 10)");
}

// After parse().
inline Status check_hz(double hz) {
  constexpr double kMostHz = 1000;
  if (hz > 0 && hz <= kMostHz) return {};
  return usage_error(fmt::format("--sample-resources must be above 0 and at most {}", kMostHz));
}

}  // namespace fathom::cli
