// SPDX-License-Identifier: MIT
// Numbers of profile.json's `needs`. What was not measured has a reason in place of a number.
#include "analysis/application/needs.h"

#include <algorithm>
#include <cstddef>

#include "analysis/compare/spread.h"

namespace fathom::analysis {
namespace {

using enum Measure;

// A run with fewer samples may have had its peak between two of them.
constexpr std::size_t kFewSamples = 5;

struct NeedDef {
  const char* name;
  Measure measure;
  const char* unit;
};
constexpr NeedDef kNeeds[] = {
    {"cpu_cores", kNone, "cores"},           {"memory_bytes", kBytes, ""},
    {"gpu_memory_bytes", kBytes, ""},        {"gpu_busy", kPercent, ""},
    {"disk_read_rate", kBytes, "/s"},        {"disk_write_rate", kBytes, "/s"},
    {"net_in_rate", kBytes, "/s"},           {"net_out_rate", kBytes, "/s"},
    {"pids", kNone, "processes and threads"}};

Amount unknown(std::string reason) {
  return {.typical = {}, .peak = {}, .reason = std::move(reason)};
}

// Typical is the mean over the run; a peak below it would be one that the samples missed.
Amount rate_of(const Growth& growth, double wall_s, const std::string& reason) {
  if (growth.empty() || wall_s <= 0) return unknown(reason);
  const double typical = growth.total() / wall_s;
  return {.typical = typical, .peak = std::max(growth.peak_rate(), typical), .reason = ""};
}

// Control groups of version 1 miss what is written behind the application's back.
Amount written_of(const Usage& usage, double wall_s, const std::string& reason) {
  Amount amount = rate_of(usage.disk_written, wall_s, reason);
  const auto lacks = usage.facts.find("cgroup.writes");
  if (amount.peak && lacks != usage.facts.end()) amount.reason = "writes " + lacks->second;
  return amount;
}

Amount level_of(const Level& level, const std::string& reason) {
  if (level.empty()) return unknown(reason);
  return {.typical = level.median(), .peak = level.peak(), .reason = ""};
}

// Whoever is killed for memory had all that it may have, and it was in use: the kernel takes files
// away before it kills. Of a run with hardly a sample, the kernel's own peak tells, without the
// most that files took.
Amount memory_of(const Usage& usage, const ContainerRun& run) {
  Amount amount = level_of(usage.memory, "no sample was taken");
  if (!amount.peak) return amount;
  const bool killed = run.oom || usage.oom_kills > 0;
  if (killed) {
    const auto most = usage.memory_limit ? usage.memory_limit : usage.memory_peak;
    amount.peak = std::max(*amount.peak, most.value_or(0));
    amount.reason = "it ran out of memory: it may need more than the peak";
  } else if (usage.memory.size() < kFewSamples && usage.memory_peak) {
    amount.peak = std::max(*amount.peak, *usage.memory_peak - usage.most_inactive_file);
  }
  if (!usage.of_group)
    amount.reason = "resident sets of its processes; pages that they share count for each";
  return amount;
}

Amount network_of(const Growth& growth, const Usage& usage, double wall_s) {
  const auto shared = usage.facts.find("cgroup.network");
  if (shared != usage.facts.end()) return unknown("the network is " + shared->second);
  return rate_of(growth, wall_s,
                 usage.of_group ? "no process was seen in its network"
                                : "the network is not counted by process; run it in a container");
}

// The kernel refuses a process only when there are as many as the limit says.
Amount pids_of(const Usage& usage) {
  Amount amount = level_of(usage.pids, "they were not counted");
  if (amount.peak && usage.pids_refused > 0 && usage.pids_limit) {
    amount.peak = std::max(*amount.peak, *usage.pids_limit);
    amount.reason = "its limit of processes was reached";
  }
  return amount;
}

Amount gpu_of(const Level& level, const Usage& usage, bool is_memory) {
  if (level.empty()) return unknown("no GPU reported its use");
  Amount amount = {.typical = is_memory ? level.median() : level.mean(),
                   .peak = level.peak(),
                   .reason = usage.gpu_of_device ? "of the GPU, whoever used it" : ""};
  amount.typical = std::min(*amount.typical, *amount.peak);
  return amount;
}

}  // namespace

std::vector<Need> needs_of(const Usage& usage, const ContainerRun& run) {
  const char* const no_disk =
      usage.of_group ? "the control group does not count transfers" : "transfers were not sampled";
  const Amount amounts[] = {
      rate_of(usage.cpu, run.wall_s, "CPU time was not sampled twice"),
      memory_of(usage, run),
      gpu_of(usage.gpu_memory, usage, true),
      gpu_of(usage.gpu_busy, usage, false),
      rate_of(usage.disk_read, run.wall_s, no_disk),
      written_of(usage, run.wall_s, no_disk),
      network_of(usage.received, usage, run.wall_s),
      network_of(usage.sent, usage, run.wall_s),
      pids_of(usage),
  };
  std::vector<Need> needs = unknown_needs("");
  for (std::size_t i = 0; i < needs.size(); ++i) needs[i].amount = amounts[i];
  return needs;
}

std::vector<Need> unknown_needs(const std::string& reason) {
  std::vector<Need> needs;
  for (const NeedDef& def : kNeeds)
    needs.push_back({def.name, def.measure, def.unit, unknown(reason)});
  return needs;
}

std::vector<Need> merged_needs(const std::vector<std::vector<Need>>& runs) {
  std::vector<Need> merged = unknown_needs("no run was measured");
  for (std::size_t i = 0; i < merged.size(); ++i) {
    std::vector<double> typical;
    Amount& amount = merged[i].amount;
    for (const std::vector<Need>& needs : runs) {
      const Amount& one = needs[i].amount;
      if (amount.reason.empty() || !amount.peak) amount.reason = one.reason;
      if (one.typical) typical.push_back(*one.typical);
      if (one.peak) amount.peak = std::max(amount.peak.value_or(*one.peak), *one.peak);
    }
    if (!typical.empty()) amount.typical = median(typical);
  }
  return merged;
}

const Amount& amount_of(const std::vector<Need>& needs, std::string_view name) {
  return std::ranges::find(needs, name, &Need::name)->amount;
}

}  // namespace fathom::analysis
