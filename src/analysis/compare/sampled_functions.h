// SPDX-License-Identifier: MIT
// The functions that explain a change of CPU time, from the samples of both sides. What the calls
// of a run explain is compare.h's.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/compare.h"
#include "analysis/report.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// What --by calls them.
inline constexpr std::string_view kSampledFunctions = "function";

struct SampledFunction {
  std::string name;
  std::string module;  // file name: another build lies elsewhere
  double self = 0;     // ns
  double squares = 0;  // sum of squared weights: how far chance may have moved `self`
};

// Of one run. Without samples of CPU time there are none.
using SampledRun = std::vector<SampledFunction>;
Result<SampledRun> read_sampled(Store& store);

// Whether every run has samples.
[[nodiscard]] bool is_sampled(std::span<const SampledRun> side);

// Adds to the report which functions changed, in words and as a table; or why that cannot be told.
void add_sampled(std::span<const SampledRun> before, std::span<const SampledRun> after,
                 const CompareOptions& options, Report& report);

}  // namespace fathom::analysis
