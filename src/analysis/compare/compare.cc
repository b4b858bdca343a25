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

// There may be thousands of lines: their intervals are drawn from less than those of figures.
constexpr std::size_t kLineResamples = 1'000;

using Runs = std::span<const RunSums>;

// Both sides, and the test for as many runs.
struct Sides {
  Runs before, after;
  RankTest test;

  Sides(Runs of_before, Runs of_after)
      : before(of_before), after(of_after), test(of_before.size(), of_after.size()) {}
};

template <class Get>
Estimate estimate_of(const Sides& sides, Get get, std::size_t resamples = kResamples) {
  std::vector<double> before;
  std::vector<double> after;
  for (const RunSums& run : sides.before) before.push_back(get(run));
  for (const RunSums& run : sides.after) after.push_back(get(run));
  return estimate(before, after, sides.test, resamples);
}

template <class Has>
Presence presence_in(const Sides& sides, Has has) {
  if (std::ranges::none_of(sides.before, has)) return Presence::kNew;
  return std::ranges::none_of(sides.after, has) ? Presence::kGone : Presence::kBoth;
}

// All lines of a table together are wrong as rarely as one would be alone.
template <class Belongs>
void correct(std::vector<Difference>& lines, Belongs belongs) {
  std::vector<double> ps;
  for (const Difference& line : lines) {
    if (line.value.p && belongs(line)) ps.push_back(*line.value.p);
  }
  const std::vector<double> corrected = holm(ps);
  std::size_t next = 0;
  for (Difference& line : lines) {
    if (line.value.p && belongs(line)) line.value.p = corrected[next++];
  }
}

bool any_line(const Difference& /*line*/) { return true; }

const Figure* find_figure(const RunSums& run, const std::string& name) {
  const auto found = std::ranges::find(run.figures, name, &Figure::name);
  return found == run.figures.end() ? nullptr : &*found;
}

// Only what both sides know: a layer that was recorded once gives no difference.
std::vector<Difference> figures_of(const Sides& sides) {
  std::vector<Difference> lines;
  for (const Figure& figure : sides.before[0].figures) {
    const auto has = [&](const RunSums& run) { return find_figure(run, figure.name) != nullptr; };
    if (!std::ranges::all_of(sides.before, has) || !std::ranges::all_of(sides.after, has)) continue;
    Difference line;
    line.key = {figure.name};
    line.measure = figure.measure;
    line.value = estimate_of(
        sides, [&](const RunSums& run) { return find_figure(run, figure.name)->value; });
    lines.push_back(std::move(line));
  }
  // Wall time is the question, and the others explain its answer.
  correct(lines, [](const Difference& line) { return line.key[0] != kWallTime; });
  return lines;
}

const Groups& groups_in(const RunSums& run, std::string_view name) {
  static const Groups empty;
  const auto found = run.groups.find(name);
  return found == run.groups.end() ? empty : found->second;
}

// A line that one side lacks counts there as 0, in each run: a function that is new has cost all of
// its time.
Difference group_line(const Sides& sides, std::string_view grouping, const GroupKey& key) {
  const auto sum_in = [&](const RunSums& run) {
    const Groups& groups = groups_in(run, grouping);
    const auto found = groups.find(key);
    return found == groups.end() ? GroupSum{} : found->second;
  };
  const auto has = [&](const RunSums& run) { return groups_in(run, grouping).contains(key); };
  Difference line;
  line.key = key;
  line.measure = Measure::kNanoseconds;
  line.presence = presence_in(sides, has);
  line.value = estimate_of(
      sides, [&](const RunSums& run) { return sum_in(run).self; }, kLineResamples);
  line.calls = estimate_of(
      sides, [&](const RunSums& run) { return sum_in(run).calls; }, 1);
  return line;
}

// What is in no recorded call is a line, too: without it the lines would explain more than
// happened.
Difference outside_line(const Sides& sides, std::size_t columns) {
  Difference line;
  line.key.resize(columns);
  line.key[0] = kElsewhere;
  line.measure = Measure::kNanoseconds;
  line.value = estimate_of(
      sides, [](const RunSums& run) { return run.outside; }, kLineResamples);
  return line;
}

void set_explained(Difference& line, const Estimate& threads) {
  if (std::fabs(threads.mean_change) <= kHardlyChanged * threads.before) return;
  if (threads.p && !threads.significant()) return;  // shares of chance
  line.explains = 100 * line.value.mean_change / threads.mean_change;
}

bool in_threads(const Sides& sides, std::string_view grouping, const GroupKey& key) {
  const auto fits = [&](const RunSums& run) {
    const Groups& groups = groups_in(run, grouping);
    const auto found = groups.find(key);
    return found == groups.end() || found->second.in_threads;
  };
  return std::ranges::all_of(sides.before, fits) && std::ranges::all_of(sides.after, fits);
}

void sort_by_change(std::vector<Difference>& lines) {
  std::ranges::stable_sort(lines, [](const Difference& a, const Difference& b) {
    return std::fabs(a.value.change) > std::fabs(b.value.change);
  });
}

Differences group_lines(const Sides& sides, const Grouping& grouping, const Estimate& threads) {
  std::set<GroupKey> keys;
  for (const Runs side : {sides.before, sides.after}) {
    for (const RunSums& run : side) {
      for (const auto& [key, sum] : groups_in(run, grouping.name)) keys.insert(key);
    }
  }
  Differences differences{.name = std::string(grouping.name), .lines = {}};
  for (const GroupKey& key : keys) {
    Difference line = group_line(sides, grouping.name, key);
    if (in_threads(sides, grouping.name, key)) set_explained(line, threads);
    differences.lines.push_back(std::move(line));
  }
  if (grouping.whole && !keys.empty()) {
    differences.lines.push_back(outside_line(sides, grouping.columns.size()));
    set_explained(differences.lines.back(), threads);
  }
  correct(differences.lines, any_line);
  sort_by_change(differences.lines);
  return differences;
}

// What share of itself a line changed; new and gone lines first.
double weight_of(const Difference& line) {
  if (line.presence != Presence::kBoth) return HUGE_VAL;
  return std::fabs(line.value.percent().value_or(0));
}

Difference counter_line(const Sides& sides, const CounterKey& key, const CounterSum& sample) {
  Difference line;
  line.key = {key.name, key.layer, key.statistic};
  line.measure = sample.measure;
  line.unit = sample.unit;
  line.presence =
      presence_in(sides, [&](const RunSums& run) { return run.counters.contains(key); });
  const auto value_in = [&](const RunSums& run) {
    const auto found = run.counters.find(key);
    return found == run.counters.end() ? 0 : found->second.value;
  };
  line.value = estimate_of(sides, value_in, kLineResamples);
  return line;
}

Differences counter_lines(const Sides& sides) {
  CounterSums all;
  for (const Runs side : {sides.before, sides.after}) {
    for (const RunSums& run : side) all.insert(run.counters.begin(), run.counters.end());
  }
  Differences differences{.name = "counter", .lines = {}};
  for (const auto& [key, sample] : all) {
    differences.lines.push_back(counter_line(sides, key, sample));
  }
  correct(differences.lines, any_line);
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
  const Sides sides(Runs(runs).first(before.size()), Runs(runs).subspan(before.size()));
  Comparison comparison;
  comparison.before = before.size();
  comparison.after = after.size();
  comparison.before_command = before[0].nature.command;
  comparison.after_command = after[0].nature.command;
  comparison.wall = estimate_of(sides, [](const RunSums& run) { return run.wall; });
  comparison.thread_time = estimate_of(sides, [](const RunSums& run) { return run.thread_time; });
  comparison.figures = figures_of(sides);
  for (const Grouping& grouping : groupings()) {
    comparison.groups.push_back(group_lines(sides, grouping, comparison.thread_time));
  }
  comparison.groups.push_back(counter_lines(sides));
  comparison.warnings = unlike(sides.before, sides.after);
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
