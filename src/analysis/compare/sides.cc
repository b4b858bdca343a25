// SPDX-License-Identifier: MIT
// What the command line and the page share of a comparison.
#include "analysis/compare/sides.h"

#include <utility>

namespace fathom::analysis {

Status add_run(ComparedSide& side, Store& store, const std::string& path) {
  FATHOM_ASSIGN(RunSums sums, read_run(store, path));
  FATHOM_ASSIGN(SampledRun sampled, read_sampled(store));
  side.runs.push_back(std::move(sums));
  side.sampled.push_back(std::move(sampled));
  return {};
}

SidesReport compare_sides(const ComparedSide& before, const ComparedSide& after,
                          CompareOptions options) {
  const Comparison comparison = compare(before.runs, after.runs);
  options.sampled = is_sampled(before.sampled) && is_sampled(after.sampled);
  SidesReport result{.report = compare_report(comparison, options),
                     .wall_changed = wall_changed(comparison, options)};
  add_sampled(before.sampled, after.sampled, options, result.report);
  return result;
}

}  // namespace fathom::analysis
