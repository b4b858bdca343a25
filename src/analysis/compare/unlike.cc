// SPDX-License-Identifier: MIT
#include "analysis/compare/unlike.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace fathom::analysis {
namespace {

using Runs = std::span<const RunSums>;

std::set<std::string> layers_of_all(Runs runs) {
  std::set<std::string> layers;
  for (const RunSums& run : runs) layers.insert(run.nature.layers.begin(), run.nature.layers.end());
  return layers;
}

std::vector<std::string> missing_in(const std::set<std::string>& layers, Runs runs) {
  std::vector<std::string> missing;
  for (const std::string& layer : layers) {
    const auto lacks = [&](const RunSums& run) {
      return std::ranges::find(run.nature.layers, layer) == run.nature.layers.end();
    };
    if (std::ranges::any_of(runs, lacks)) missing.push_back(layer);
  }
  return missing;
}

void add_layers(Runs before, Runs after, std::vector<std::string>& words) {
  std::set<std::string> layers = layers_of_all(before);
  layers.merge(layers_of_all(after));
  for (const auto& [runs, side] : {std::pair{before, "before"}, std::pair{after, "after"}}) {
    const std::vector<std::string> missing = missing_in(layers, runs);
    if (missing.empty()) continue;
    words.push_back(fmt::format(
        "Warning: not every recording of '{}' has {} {}, so what belongs there seems new or gone; "
        "record both sides with the same --layers.",
        side, missing.size() == 1 ? "layer" : "layers", join(missing, ", ")));
  }
}

void add_incomplete(Runs runs, std::vector<std::string>& words) {
  for (const RunSums& run : runs) {
    if (!run.nature.trouble.empty()) {
      words.push_back(fmt::format("Warning: {} is not complete ({}), so its sums are too small.",
                                  run.path, run.nature.trouble));
    }
    if (run.nature.lost > 0) {
      words.push_back(fmt::format("Warning: {} lost {} {}, so its sums are too small.", run.path,
                                  human_count(static_cast<double>(run.nature.lost)),
                                  run.nature.lost == 1 ? "event" : "events"));
    }
    if (run.nature.exit_status.value_or(0) != 0) {
      words.push_back(fmt::format("Warning: the program of {} ended with status {}.", run.path,
                                  *run.nature.exit_status));
    }
  }
}

// The first run of all speaks for them: more than one sentence about the same helps nobody.
template <class Member>
void add_if_different(Runs before, Runs after, Member member, std::string_view what,
                      std::vector<std::string>& words) {
  const std::string& first = before[0].nature.*member;
  for (const Runs side : {before, after}) {
    for (const RunSums& run : side) {
      const std::string& other = run.nature.*member;
      if (other == first) continue;
      words.push_back(fmt::format("Warning: {}: '{}' in {}, '{}' in {}.", what, first,
                                  before[0].path, other, run.path));
      return;
    }
  }
}

}  // namespace

std::vector<std::string> unlike(std::span<const RunSums> before, std::span<const RunSums> after) {
  std::vector<std::string> words;
  add_layers(before, after, words);
  add_incomplete(before, words);
  add_incomplete(after, words);
  add_if_different(before, after, &RunNature::machine, "the machines differ", words);
  add_if_different(before, after, &RunNature::path_filter, "the path filters differ", words);
  return words;
}

}  // namespace fathom::analysis
