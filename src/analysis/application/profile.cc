// SPDX-License-Identifier: MIT
// Puts together what the parts of this room find out. Everything that a recording cannot tell costs
// only itself: a profile is made of what there is.
#include "analysis/application/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/application/function_uses.h"
#include "analysis/application/needs.h"
#include "analysis/application/recommend.h"
#include "analysis/application/usage.h"
#include "analysis/compare/statistics.h"
#include "analysis/insights/insights.h"
#include "analysis/report.h"
#include "analysis/store.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

// Of plain runs, or of probed ones where there are none: what was used without our help.
std::vector<const ContainerRun*> measured_runs(std::span<const ContainerRun> runs) {
  std::vector<const ContainerRun*> chosen;
  for (const char* kind : {kPlain, kProbed}) {
    for (const ContainerRun& run : runs) {
      if (run.kind == kind) chosen.push_back(&run);
    }
    if (!chosen.empty()) break;
  }
  return chosen;
}

Overhead overhead_of(std::span<const ContainerRun> runs) {
  std::vector<double> plain, probed;
  for (const ContainerRun& run : runs) (run.kind == kPlain ? plain : probed).push_back(run.wall_s);
  Overhead overhead;
  if (plain.empty() || probed.empty()) {
    overhead.reason = "it takes a probed run and a plain one";
    return overhead;
  }
  Dice dice(kSeed);
  const auto ratio = ratio_of_medians(plain, probed, dice);
  if (!ratio) {
    overhead.reason = "the plain run took no time";
    return overhead;
  }
  overhead.ratio = ratio->value;
  if (plain.size() > 1 && probed.size() > 1) {
    overhead.low = std::min(ratio->interval.low, ratio->value);
    overhead.high = std::max(ratio->interval.high, ratio->value);
  } else {
    overhead.reason = "an interval takes repetitions";
  }
  return overhead;
}

void tell_ending(const ContainerRun& run, std::size_t number, std::vector<std::string>& words) {
  const std::string which = fmt::format("Run {} ({})", number, run.kind);
  if (run.oom) words.push_back(which + " ran out of memory: the kernel killed a process of it.");
  if (run.timed_out) words.push_back(which + " was stopped when its time was over.");
  if (!run.failure.empty()) words.push_back(which + " failed its check: " + run.failure + ".");
  if (run.exit != 0) words.push_back(fmt::format("{} ended with status {}.", which, run.exit));
}

std::string cores_text(double cores) {
  const std::string number = fmt::format("{:g}", cores);
  return number + (number == "1" ? " core" : " cores");
}

void tell_limits(const Usage& usage, double wall_s, std::vector<std::string>& words) {
  if (usage.throttled_periods > 0) {
    words.push_back(
        fmt::format("Its CPU was throttled in {:.0f} of {}, for {:.2f} s of {:.2f} s: its limit "
                    "{}was reached, and it may need more than its peak.",
                    usage.throttled_periods,
                    counted(static_cast<std::int64_t>(usage.periods), "period"), usage.throttled_s,
                    wall_s, usage.cpu_limit ? "of " + cores_text(*usage.cpu_limit) + " " : ""));
  }
  constexpr double kNoticeable = 0.1;  // of the run
  if (usage.throttled_periods <= 0 && usage.waited_cpu_s > kNoticeable * wall_s)
    words.push_back(fmt::format(
        "It waited for a CPU during {:.2f} s of {:.2f} s because the machine was busy: with CPUs "
        "of its own it uses more cores than were measured, and takes less time.",
        std::min(usage.waited_cpu_s, wall_s), wall_s));
  if (usage.pids_refused > 0)
    words.push_back("The kernel refused to start a process " +
                    counted(std::llround(usage.pids_refused), "time") +
                    ": the limit of processes was reached.");
}

// Opens a recording; one that cannot be opened is named.
std::optional<Store> open_run(const ContainerRun& run, std::vector<std::string>& words) {
  if (run.recording.empty()) return {};
  Result<Store> store = Store::open(run.recording);
  if (store) return std::move(*store);
  words.push_back(std::string(base_name(run.recording)) +
                  " cannot be read: " + store.error().message);
  return {};
}

// The first table of a view; an empty one where it fails.
Table table_of(Store& store, std::string_view name) {
  const Result<const ViewDef*> view = choose_view(name, {});
  Result<Report> report = view ? make_report(**view, store, {}) : Result<Report>(view.error());
  return report && !report->sections.empty() ? std::move(report->sections.front().table) : Table();
}

// Words about limits are of the first run that can be read: those of each would say the same again.
void measure(std::span<const ContainerRun> runs, Profile& profile) {
  std::vector<std::vector<Need>> needs;
  for (const ContainerRun* run : measured_runs(runs)) {
    std::optional<Store> store = open_run(*run, profile.words);
    if (!store) continue;
    const Result<Usage> usage = usage_of(*store);
    if (!usage) {
      profile.words.push_back(usage.error().message);
      continue;
    }
    needs.push_back(needs_of(*usage, *run));
    if (needs.size() > 1) continue;
    profile.wall_s = run->wall_s;
    tell_limits(*usage, run->wall_s, profile.words);
    Result<std::vector<Section>> sections = resource_sections(*store, true);
    for (Section& section : sections ? *sections : std::vector<Section>())
      profile.curves.push_back(std::move(section.table));
  }
  profile.needs =
      needs.empty() ? unknown_needs("there is no recording of a run") : merged_needs(needs);
}

Status look_inside(Store& store, Profile& profile) {
  FATHOM_ASSIGN(const Usage usage, usage_of(store));
  FATHOM_ASSIGN(CodeUses uses, code_uses(store, usage));
  profile.functions = std::move(uses.functions);
  profile.loops = std::move(uses.loops);
  Result<Table> time = layer_time_table(store);
  if (time) profile.time = std::move(*time);
  profile.phases = table_of(store, "phases");
  profile.hot = table_of(store, "hot");
  FATHOM_ASSIGN(const std::vector<Rule> rules, own_rules());
  FATHOM_ASSIGN(profile.insights, find_insights(store, rules));
  return {};
}

}  // namespace

Result<Profile> application_profile(std::span<const ContainerRun> runs) {
  if (runs.empty())
    return Error{Code::kInvalid, "there is no run to make a profile of", "run it once"};
  Profile profile;
  profile.runs.assign(runs.begin(), runs.end());
  for (std::size_t i = 0; i < runs.size(); ++i) tell_ending(runs[i], i + 1, profile.words);
  profile.overhead = overhead_of(runs);
  measure(runs, profile);
  profile.recommend = recommendation_for(profile.needs);
  for (const ContainerRun& run : runs) {
    if (run.kind != kProbed) continue;
    std::optional<Store> store = open_run(run, profile.words);
    if (!store) continue;
    const Status looked = look_inside(*store, profile);
    if (!looked) profile.words.push_back(looked.error().message);
    break;
  }
  return profile;
}

}  // namespace fathom::analysis
