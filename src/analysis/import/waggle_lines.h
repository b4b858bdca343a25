// SPDX-License-Identifier: MIT
// Lines of Waggle's ftimes.csv, ltimes.csv and stats.csv (docs/formats/waggle.md). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::analysis {

// "1600000000.5,In Function dive()", "…,Top of For Loop".
struct WaggleMoment {
  std::int64_t epoch_ns = 0;
  std::string_view name;  // "dive", "For Loop"
  bool begins = false;
  bool is_loop = false;
};
[[nodiscard]] std::optional<WaggleMoment> parse_waggle_moment(std::string_view line);

// "1600000000.5,3,97,41.5": shares of CPUs, then of memory.
struct WaggleStats {
  std::int64_t epoch_ns = 0;
  std::vector<double> cpus;
  double memory = 0;
};
[[nodiscard]] std::optional<WaggleStats> parse_waggle_stats(std::string_view line);

}  // namespace fathom::analysis
