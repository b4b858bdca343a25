// SPDX-License-Identifier: MIT
// Warnings before numbers: other layers, other machines, losses or partial recordings make a
// difference that is not the program's.
#include "analysis/compare/unlike.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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
    words.push_back(
        fmt::format("Warning: not every recording of '{}' has {} {}, so functions there look new "
                    "or gone; record both sides with the same --layers.",
                    side, missing.size() == 1 ? "layer" : "layers", join(missing, ", ")));
  }
}

// One sentence for a trouble, however many recordings have it: "a.fathom and 3 more".
template <class Has>
std::optional<std::pair<const RunSums*, std::string>> first_with(Runs runs, Has has) {
  const auto first = std::ranges::find_if(runs, has);
  if (first == runs.end()) return std::nullopt;
  const auto more = std::ranges::count_if(runs, has) - 1;
  return std::pair(&*first,
                   more > 0 ? fmt::format("{} and {} more", first->path, more) : first->path);
}

void add_incomplete(Runs runs, std::vector<std::string>& words) {
  const auto broken =
      first_with(runs, [](const RunSums& run) { return !run.nature.trouble.empty(); });
  if (broken) {
    words.push_back(
        fmt::format("Warning: the recording is incomplete, so its sums are too small: {} ({}).",
                    broken->second, broken->first->nature.trouble));
  }
  const auto lossy = first_with(runs, [](const RunSums& run) { return run.nature.lost > 0; });
  if (lossy) {
    words.push_back(fmt::format("Warning: events were lost, so the sums are too small: {} ({}).",
                                lossy->second,
                                human_count(static_cast<double>(lossy->first->nature.lost))));
  }
  const auto failed =
      first_with(runs, [](const RunSums& run) { return run.nature.exit_status.value_or(0) != 0; });
  if (failed) {
    words.push_back(fmt::format("Warning: the program failed: {} (exit status {}).", failed->second,
                                *failed->first->nature.exit_status));
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
