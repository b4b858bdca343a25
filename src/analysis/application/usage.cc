// SPDX-License-Identifier: MIT
// What an application used over time, from layer `resource` (docs/formats/resources.md describes
// its series). Of a container the control group's own counters, which miss nobody; where there is
// no group, sums over processes as they were looked at.
#include "analysis/application/usage.h"

#include <fmt/format.h>

#include "analysis/compare/sums.h"
#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

constexpr double kNsPerSecond = 1e9;

Result<std::vector<Point>> points_of(Store& store, const std::string& sql) {
  std::vector<Point> points;
  FATHOM_TRY(store.stream(sql, [&](const Table& part) -> Status {
    for (const auto& row : part.rows) points.push_back({int_of(row[0]), number_or_zero(row[1])});
    return {};
  }));
  return points;
}

// A series of the control group.
Result<std::vector<Point>> of_group(Store& store, std::string_view name, double scale = 1) {
  return points_of(store,
                   fmt::format("SELECT ts, value * {} FROM counters WHERE layer = 'resource' "
                               "AND name = '{}' AND pid IS NULL ORDER BY ts",
                               scale, name));
}

// A level of the control group, while it had a process: before and after, it is nobody's.
Result<std::vector<Point>> of_living_group(Store& store, std::string_view name) {
  return points_of(
      store, fmt::format("WITH looks AS (SELECT ts, name, value FROM counters WHERE layer = "
                         "'resource' AND pid IS NULL AND name IN ('{0}', 'cgroup_pids')), "
                         "idle AS (SELECT ts FROM looks WHERE name = 'cgroup_pids' AND value = 0) "
                         "SELECT ts, value FROM looks WHERE name = '{0}' AND ts NOT IN (SELECT ts "
                         "FROM idle) ORDER BY ts",
                         name));
}

// The growth of all processes together, also of those that have ended. What a process had when the
// recording began is not the recording's.
Result<std::vector<Point>> grown(Store& store, const std::string& names) {
  return points_of(store, fmt::format(
                              R"(WITH each AS (
                      SELECT host, pid, name, ts, value FROM counters
                      WHERE layer = 'resource' AND name IN ({}) AND pid IS NOT NULL),
                    began AS (SELECT host, pid, min(start) AS start FROM processes GROUP BY ALL),
                    steps AS (
                      SELECT ts, greatest(value - coalesce(lag(value) OVER w,
                               CASE WHEN coalesce(start, 0) < 0 THEN value ELSE 0 END), 0) AS step
                      FROM each LEFT JOIN began b
                        ON b.pid = each.pid AND b.host IS NOT DISTINCT FROM each.host
                      WINDOW w AS (PARTITION BY each.host, each.pid, name ORDER BY ts)),
                    looks AS (SELECT ts, sum(step) AS step FROM steps GROUP BY ts)
                    SELECT ts, sum(step) OVER (ORDER BY ts) FROM looks ORDER BY ts)",
                              names));
}

// What all processes together had at each look.
Result<std::vector<Point>> summed(Store& store, const std::string& condition) {
  return points_of(store, "SELECT ts, sum(value) FROM counters WHERE layer = 'resource' AND " +
                              condition + " GROUP BY ts ORDER BY ts");
}

Status read_group(Store& store, Usage& usage) {
  FATHOM_ASSIGN(auto cpu, of_group(store, "cgroup_cpu", 1 / kNsPerSecond));
  FATHOM_ASSIGN(auto memory, of_living_group(store, "cgroup_working_set"));
  FATHOM_ASSIGN(auto read, of_group(store, "cgroup_read_bytes"));
  FATHOM_ASSIGN(auto written, of_group(store, "cgroup_write_bytes"));
  FATHOM_ASSIGN(auto received, of_group(store, "cgroup_net_received"));
  FATHOM_ASSIGN(auto sent, of_group(store, "cgroup_net_sent"));
  FATHOM_ASSIGN(auto pids, of_living_group(store, "cgroup_pids"));
  usage.cpu = Growth(std::move(cpu));
  usage.memory = Level(std::move(memory));
  usage.disk_read = Growth(std::move(read));
  usage.disk_written = Growth(std::move(written));
  usage.received = Growth(std::move(received));
  usage.sent = Growth(std::move(sent));
  usage.pids = Level(std::move(pids));
  return {};
}

Status read_processes(Store& store, Usage& usage) {
  FATHOM_ASSIGN(auto cpu, grown(store, "'cpu_user', 'cpu_system'"));
  FATHOM_ASSIGN(auto read, grown(store, "'read_bytes'"));
  FATHOM_ASSIGN(auto written, grown(store, "'write_bytes'"));
  FATHOM_ASSIGN(auto memory, summed(store, "name = 'rss' AND pid IS NOT NULL"));
  FATHOM_ASSIGN(auto pids, summed(store, "name = 'threads' AND pid IS NOT NULL"));
  // Time that was used before the first look counts, and so do its bytes.
  for (std::vector<Point>* points : {&cpu, &read, &written}) {
    if (!points->empty() && points->front().ts > 0) points->insert(points->begin(), Point{0, 0});
  }
  usage.cpu = Growth(std::move(cpu));
  usage.memory = Level(std::move(memory));
  usage.disk_read = Growth(std::move(read));
  usage.disk_written = Growth(std::move(written));
  usage.pids = Level(std::move(pids));
  return {};
}

// Drivers that do not tell what a process uses tell what the device does: then others may have a
// part in it, which usage.gpu_of_device says.
Status read_gpus(Store& store, Usage& usage) {
  FATHOM_ASSIGN(auto memory, summed(store, "regexp_matches(name, '^gpu[0-9]+_process_memory$')"));
  FATHOM_ASSIGN(auto busy, summed(store, "regexp_matches(name, '^gpu[0-9]+_process_busy$')"));
  FATHOM_ASSIGN(auto device_memory,
                summed(store, "regexp_matches(name, '^gpu[0-9]+_memory_used$')"));
  FATHOM_ASSIGN(auto device_busy, summed(store, "regexp_matches(name, '^gpu[0-9]+_busy$')"));
  usage.gpu_of_device = memory.empty() && !device_memory.empty();
  usage.gpu_memory = Level(memory.empty() ? std::move(device_memory) : std::move(memory));
  usage.gpu_busy = Level(busy.empty() ? std::move(device_busy) : std::move(busy));
  return {};
}

// The largest value of each series of the group, and the growth of those that grow.
Status read_extremes(Store& store, Usage& usage) {
  FATHOM_ASSIGN(
      const Table table,
      store.query("SELECT name, max(value), max(value) - min(value) FROM counters WHERE "
                  "layer = 'resource' AND pid IS NULL AND name LIKE 'cgroup%' GROUP BY 1"));
  std::map<std::string, double> most, grew;
  for (const auto& row : table.rows) {
    most[text_of(row[0])] = number_or_zero(row[1]);
    grew[text_of(row[0])] = number_or_zero(row[2]);
  }
  const auto take = [&](const char* name, std::optional<double>& to) {
    if (const auto found = most.find(name); found != most.end()) to = found->second;
  };
  take("cgroup_memory_peak", usage.memory_peak);
  take("cgroup_memory_limit", usage.memory_limit);
  take("cgroup_cpu_limit", usage.cpu_limit);
  take("cgroup_pids_limit", usage.pids_limit);
  usage.most_inactive_file = most["cgroup_inactive_file"];
  usage.oom_kills =
      grew["cgroup_oom_kills"] > 0 ? grew["cgroup_oom_kills"] : most["cgroup_oom_kills"];
  usage.waited_cpu_s = grew["cgroup_cpu_pressure"] / kNsPerSecond;
  usage.throttled_s = grew["cgroup_throttled"] / kNsPerSecond;
  usage.throttled_periods = grew["cgroup_throttled_periods"];
  usage.periods = grew["cgroup_periods"];
  usage.pids_refused = most["cgroup_pids_refused"];
  return {};
}

Status read_facts(Store& store, Usage& usage) {
  FATHOM_ASSIGN(const Table table, store.query("SELECT key, value FROM run"));
  for (const auto& row : table.rows) usage.facts[text_of(row[0])] = text_of(row[1]);
  return {};
}

}  // namespace

Result<Usage> usage_of(Store& store) {
  Usage usage;
  FATHOM_ASSIGN(const Table group,
                store.query("SELECT count(*) FROM counters WHERE layer = 'resource' AND name = "
                            "'cgroup_working_set'"));
  usage.of_group = int_of(group.rows[0][0]) > 0;
  FATHOM_TRY(usage.of_group ? read_group(store, usage) : read_processes(store, usage));
  FATHOM_TRY(read_gpus(store, usage));
  if (usage.of_group) FATHOM_TRY(read_extremes(store, usage));
  FATHOM_TRY(read_facts(store, usage));
  return usage;
}

}  // namespace fathom::analysis
