// SPDX-License-Identifier: MIT
// Counters that only grow are compared by their growth, others by mean and maximum; which is which
// is a list of names in the query.
#include "analysis/compare/counter_sums.h"

#include <algorithm>

#include "analysis/compare/sums.h"
#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

// A process's counters begin with the process at zero; the machine's have counted before the run.
constexpr char kCounters[] = R"(
  WITH growing(name) AS (VALUES ('cpu_user'), ('cpu_system'), ('minor_faults'), ('major_faults'),
         ('rchar'), ('wchar'), ('read_bytes'), ('write_bytes'), ('voluntary_switches'),
         ('involuntary_switches'), ('cgroup_cpu'), ('cgroup_periods'), ('cgroup_throttled_periods'),
         ('cgroup_throttled'), ('cgroup_read_bytes'), ('cgroup_write_bytes'), ('cgroup_reads'),
         ('cgroup_writes'), ('cgroup_net_received'), ('cgroup_net_sent'), ('cgroup_cpu_pressure'),
         ('cgroup_memory_pressure'), ('cgroup_io_pressure')),
       marked AS (  -- which core did it is chance
         SELECT c.*, c.layer = 'cpu' OR (c.layer = 'resource' AND c.name IN (SELECT name FROM growing))
             AS grows
         FROM counters c WHERE NOT (c.layer = 'resource' AND regexp_matches(c.name, 'cpu[0-9]+_'))),
       series AS (
         SELECT layer, name, unit, max(value) - CASE WHEN pid IS NULL THEN min(value) ELSE 0 END AS v
         FROM marked WHERE grows GROUP BY host, pid, tid, layer, name, unit),
       instants AS (
         SELECT host, layer, name, unit, ts, sum(value) AS v
         FROM marked WHERE NOT grows GROUP BY host, layer, name, unit, ts),
       hosts AS (
         SELECT layer, name, unit, avg(v) AS mean, max(v) AS most
         FROM instants GROUP BY host, layer, name, unit)
  SELECT layer, name, coalesce(unit, ''), 'total', sum(v) FROM series GROUP BY layer, name, unit
  UNION ALL
  SELECT layer, name, coalesce(unit, ''), 'mean', sum(mean) FROM hosts GROUP BY layer, name, unit
  UNION ALL
  SELECT layer, name, coalesce(unit, ''), 'max', sum(most) FROM hosts GROUP BY layer, name, unit)";

CounterSum sum_of(const std::string& unit, double value) {
  constexpr double kNsPerSecond = 1e9;
  if (unit == "bytes") return {Measure::kBytes, unit, value};
  if (unit == "ns") return {Measure::kNanoseconds, unit, value};
  if (unit == "s") return {Measure::kNanoseconds, unit, value * kNsPerSecond};
  if (unit == "percent") return {Measure::kPercent, unit, value};
  if (unit == "count") return {Measure::kCount, unit, value};
  return {Measure::kNone, unit, value};
}

}  // namespace

Result<CounterSums> counter_sums(Store& store) {
  FATHOM_ASSIGN(const Table rows, store.query(kCounters));
  CounterSums sums;
  for (const auto& row : rows.rows) {
    const CounterKey key{text_of(row[0]), text_of(row[1]), text_of(row[3])};
    sums[key] = sum_of(text_of(row[2]), number_or_zero(row[4]));
  }
  return sums;
}

std::optional<double> find_counter(const CounterSums& sums, std::string_view name,
                                   std::string_view statistic) {
  const auto found = std::ranges::find_if(sums, [&](const auto& entry) {
    return entry.first.name == name && entry.first.statistic == statistic;
  });
  if (found == sums.end()) return std::nullopt;
  return found->second.value;
}

}  // namespace fathom::analysis
