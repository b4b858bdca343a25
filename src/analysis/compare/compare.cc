// SPDX-License-Identifier: MIT
// Joins both sides by key and estimates each line. The explained share is taken of the change of
// thread time, because wall times of parallel threads do not add up.
#include "analysis/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "analysis/compare/portable_paths.h"
#include "analysis/compare/unlike.h"

namespace fathom::analysis {
namespace {

// A change of the threads' time below this share of it is too small to be divided among causes.
constexpr double kHardlyChanged = 0.001;
constexpr double kThreshold = 5;  // percent, with one run each

using Runs = std::span<const RunSums>;

// One value for each run of both sides, in their order.
struct Sides {
  std::vector<double> before, after;
};

template <class Get>
Estimate estimate_of(Runs before, Runs after, Get get) {
  Sides sides;
  for (const RunSums& run : before) sides.before.push_back(get(run));
  for (const RunSums& run : after) sides.after.push_back(get(run));
  return welch(sides.before, sides.after);
}

template <class Has>
Presence presence_in(Runs before, Runs after, Has has) {
  if (std::ranges::none_of(before, has)) return Presence::kNew;
  return std::ranges::none_of(after, has) ? Presence::kGone : Presence::kBoth;
}

const Figure* find_figure(const RunSums& run, const std::string& name) {
  const auto found = std::ranges::find(run.figures, name, &Figure::name);
  return found == run.figures.end() ? nullptr : &*found;
}

// Only what both sides know: a layer that was recorded once gives no difference.
std::vector<Difference> figures_of(Runs before, Runs after) {
  std::vector<Difference> lines;
  for (const Figure& figure : before[0].figures) {
    const auto has = [&](const RunSums& run) { return find_figure(run, figure.name) != nullptr; };
    if (!std::ranges::all_of(before, has) || !std::ranges::all_of(after, has)) continue;
    Difference line;
    line.key = {figure.name};
    line.measure = figure.measure;
    line.value = estimate_of(
        before, after, [&](const RunSums& run) { return find_figure(run, figure.name)->value; });
    lines.push_back(std::move(line));
  }
  return lines;
}

const Groups& groups_in(const RunSums& run, std::string_view name) {
  static const Groups empty;
  const auto found = run.groups.find(name);
  return found == run.groups.end() ? empty : found->second;
}

Difference group_line(Runs before, Runs after, std::string_view grouping, const GroupKey& key) {
  const auto sum_in = [&](const RunSums& run) {
    const Groups& groups = groups_in(run, grouping);
    const auto found = groups.find(key);
    return found == groups.end() ? GroupSum{} : found->second;
  };
  const auto has = [&](const RunSums& run) { return groups_in(run, grouping).contains(key); };
  Difference line;
  line.key = key;
  line.measure = Measure::kNanoseconds;
  line.presence = presence_in(before, after, has);
  line.value = estimate_of(before, after, [&](const RunSums& run) { return sum_in(run).self; });
  line.calls = estimate_of(before, after, [&](const RunSums& run) { return sum_in(run).calls; });
  return line;
}

Difference outside_line(Runs before, Runs after, std::size_t columns) {
  Difference line;
  line.key.resize(columns);
  line.key[0] = kElsewhere;
  line.measure = Measure::kNanoseconds;
  line.value = estimate_of(before, after, [](const RunSums& run) { return run.outside; });
  return line;
}

void set_explained(Difference& line, const Estimate& threads) {
  if (std::fabs(threads.change) <= kHardlyChanged * threads.before) return;
  if (threads.p && !threads.significant()) return;  // shares of chance
  line.explains = 100 * line.value.change / threads.change;
}

bool in_threads(Runs before, Runs after, std::string_view grouping, const GroupKey& key) {
  const auto fits = [&](const RunSums& run) {
    const Groups& groups = groups_in(run, grouping);
    const auto found = groups.find(key);
    return found == groups.end() || found->second.in_threads;
  };
  return std::ranges::all_of(before, fits) && std::ranges::all_of(after, fits);
}

void sort_by_change(std::vector<Difference>& lines) {
  std::ranges::stable_sort(lines, [](const Difference& a, const Difference& b) {
    return std::fabs(a.value.change) > std::fabs(b.value.change);
  });
}

Differences group_lines(Runs before, Runs after, const Grouping& grouping,
                        const Estimate& threads) {
  std::set<GroupKey> keys;
  for (const Runs side : {before, after}) {
    for (const RunSums& run : side) {
      for (const auto& [key, sum] : groups_in(run, grouping.name)) keys.insert(key);
    }
  }
  Differences differences{.name = std::string(grouping.name), .lines = {}};
  for (const GroupKey& key : keys) {
    Difference line = group_line(before, after, grouping.name, key);
    if (in_threads(before, after, grouping.name, key)) set_explained(line, threads);
    differences.lines.push_back(std::move(line));
  }
  if (grouping.whole && !keys.empty()) {
    differences.lines.push_back(outside_line(before, after, grouping.columns.size()));
    set_explained(differences.lines.back(), threads);
  }
  sort_by_change(differences.lines);
  return differences;
}

// What share of itself a line changed; new and gone lines first.
double weight_of(const Difference& line) {
  if (line.presence != Presence::kBoth) return HUGE_VAL;
  return std::fabs(line.value.percent().value_or(0));
}

Difference counter_line(Runs before, Runs after, const CounterKey& key, const CounterSum& sample) {
  Difference line;
  line.key = {key.name, key.layer, key.statistic};
  line.measure = sample.measure;
  line.unit = sample.unit;
  line.presence =
      presence_in(before, after, [&](const RunSums& run) { return run.counters.contains(key); });
  line.value = estimate_of(before, after, [&](const RunSums& run) {
    const auto found = run.counters.find(key);
    return found == run.counters.end() ? 0 : found->second.value;
  });
  return line;
}

Differences counter_lines(Runs before, Runs after) {
  CounterSums all;
  for (const Runs side : {before, after}) {
    for (const RunSums& run : side) all.insert(run.counters.begin(), run.counters.end());
  }
  Differences differences{.name = "counter", .lines = {}};
  for (const auto& [key, sample] : all) {
    differences.lines.push_back(counter_line(before, after, key, sample));
  }
  std::ranges::stable_sort(differences.lines, std::greater(), weight_of);
  return differences;
}

// Files by names that both sides share.
void make_portable(std::vector<RunSums>& runs) {
  std::vector<std::string> directories;
  for (const RunSums& run : runs) directories.push_back(run.directory);
  const std::vector<std::string> roots = roots_of(directories);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Groups renamed;
    for (const auto& [key, sum] : groups_in(runs[i], "file")) {
      GroupSum& place = renamed[{portable_path(key[0], roots[i], runs[i].recording)}];
      place.self += sum.self;
      place.calls += sum.calls;
      place.in_threads = place.in_threads && sum.in_threads;
    }
    runs[i].groups["file"] = std::move(renamed);
  }
}

}  // namespace

const std::vector<Difference>& Comparison::lines(std::string_view name) const {
  static const std::vector<Difference> none;
  const auto found = std::ranges::find(groups, name, &Differences::name);
  return found == groups.end() ? none : found->lines;
}

Comparison compare(std::span<const RunSums> before, std::span<const RunSums> after) {
  std::vector<RunSums> runs(before.begin(), before.end());
  runs.insert(runs.end(), after.begin(), after.end());
  make_portable(runs);
  const Runs old_runs = Runs(runs).first(before.size());
  const Runs new_runs = Runs(runs).subspan(before.size());
  Comparison comparison;
  comparison.before = before.size();
  comparison.after = after.size();
  comparison.before_command = before[0].nature.command;
  comparison.after_command = after[0].nature.command;
  comparison.wall = estimate_of(old_runs, new_runs, [](const RunSums& run) { return run.wall; });
  comparison.thread_time =
      estimate_of(old_runs, new_runs, [](const RunSums& run) { return run.thread_time; });
  comparison.figures = figures_of(old_runs, new_runs);
  for (const Grouping& grouping : groupings()) {
    comparison.groups.push_back(group_lines(old_runs, new_runs, grouping, comparison.thread_time));
  }
  comparison.groups.push_back(counter_lines(old_runs, new_runs));
  comparison.warnings = unlike(old_runs, new_runs);
  return comparison;
}

bool wall_changed(const Comparison& comparison, const CompareOptions& options) {
  const bool tested = comparison.tested();
  const double threshold = options.threshold.value_or(tested ? 0 : kThreshold);
  // From nothing to something is a change of any size.
  const std::optional<double> percent = comparison.wall.percent();
  const bool large = percent ? std::fabs(*percent) > threshold : comparison.wall.change != 0;
  return large && (!tested || comparison.wall.significant());
}

}  // namespace fathom::analysis
