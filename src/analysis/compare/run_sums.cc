// SPDX-License-Identifier: MIT
// Reads one recording into plain numbers and lets it go: only one store is open at a time, however
// many repetitions there are.
#include "analysis/compare/run_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/compare/portable_paths.h"
#include "analysis/compare/sums.h"
#include "analysis/facts.h"
#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "base/files.h"
#include "base/sum.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using trace::Part;

constexpr char kNone[] = "(none)";

Result<Groups> plain_groups(Store& store, const Grouping& grouping) {
  const std::vector<std::string> columns(grouping.columns.begin(), grouping.columns.end());
  const std::string keys = columns_sql(columns);
  FATHOM_ASSIGN(const Table rows,
                store.query(fmt::format("WITH {} SELECT {}, CAST(sum(self) AS DOUBLE), "
                                        "CAST(sum(calls) AS DOUBLE), bool_and(in_threads) "
                                        "FROM sums GROUP BY {}",
                                        sums_sql(), keys, keys)));
  Groups groups;
  const std::size_t width = columns.size();
  for (const auto& row : rows.rows) {
    GroupKey key;
    for (std::size_t i = 0; i < width; ++i)
      key.push_back(row[i].is_null() ? kNone : text_of(row[i]));
    const auto* in_threads = std::get_if<bool>(&row[width + 2].data);
    groups[key] = {.self = number_or_zero(row[width]),
                   .calls = number_or_zero(row[width + 1]),
                   .in_threads = in_threads != nullptr && *in_threads};
  }
  return groups;
}

// Calls without a file are no file: they are in the other groupings.
Result<Groups> file_groups(Store& store, const Grouping& grouping) {
  FATHOM_ASSIGN(Groups groups, plain_groups(store, grouping));
  groups.erase({kNone});
  return groups;
}

// Process numbers mean nothing in another run: the n-th process of a program is matched.
Result<Groups> process_groups(Store& store, const Grouping&) {
  FATHOM_ASSIGN(
      const Table rows,
      store.query(fmt::format(
          "WITH {}, who AS (SELECT host, pid, arg_max(name, coalesce(start, 0)) AS program, "
          "min(start) AS start FROM processes GROUP BY host, pid), "
          "numbered AS (SELECT host, pid, program, row_number() OVER (PARTITION BY program "
          "ORDER BY start, host, pid) AS number FROM who) "
          "SELECT coalesce(n.program, '{}'), CAST(coalesce(n.number, 0) AS VARCHAR), "
          "CAST({} AS DOUBLE), CAST(sum(s.calls) FILTER (s.once) AS DOUBLE), "
          "bool_and(s.in_threads) "
          "FROM sums s LEFT JOIN numbered n ON n.pid = s.pid AND n.host IS NOT DISTINCT FROM "
          "s.host "
          "GROUP BY ALL",
          sums_sql(), kNone, layer_sql("@outermost"))));
  Groups groups;
  for (const auto& row : rows.rows) {
    const auto* in_threads = std::get_if<bool>(&row[4].data);
    groups[{text_of(row[0]), text_of(row[1])}] = {
        .self = number_or_zero(row[2]),
        .calls = number_or_zero(row[3]),
        .in_threads = in_threads != nullptr && *in_threads};
  }
  return groups;
}

Result<Groups> groups_of(Store& store, const Grouping& grouping) {
  if (grouping.name == "file") return file_groups(store, grouping);
  if (grouping.name == "pid") return process_groups(store, grouping);
  return plain_groups(store, grouping);
}

// Bytes are those of stdio and posix: a library that reads for a program calls the system itself,
// unseen, and layers below see the same bytes again.
Status add_figures(Store& store, RunSums& run) {
  static const std::string kIsIo = layer_sql("layer IN @io");
  FATHOM_ASSIGN(
      const Table rows,
      store.query(fmt::format(
          "WITH {} SELECT CAST(sum(bytes) FILTER (category = 'read') AS DOUBLE), "
          "CAST(sum(bytes) FILTER (category = 'write') AS DOUBLE), CAST(sum(calls) AS DOUBLE), "
          "CAST(sum(errors) AS DOUBLE) FROM sums WHERE {}",
          sums_sql(), kIsIo)));
  const auto add = [&](const char* name, Measure measure, const std::optional<double>& value) {
    if (value) run.figures.push_back({name, measure, *value});
  };
  const auto user = find_counter(run.counters, "cpu_user", "total");
  const auto system = find_counter(run.counters, "cpu_system", "total");
  add("wall time", Measure::kNanoseconds, run.wall);
  add("thread time", Measure::kNanoseconds, run.thread_time);
  if (user && system) add("CPU time", Measure::kNanoseconds, *user + *system);
  // A process that was sampled only when it was ending had no memory any more.
  const auto memory = find_counter(run.counters, "rss", "max");
  if (memory && *memory > 0) add("peak memory", Measure::kBytes, memory);
  add("bytes read", Measure::kBytes, number_in(rows.rows[0][0]));
  add("bytes written", Measure::kBytes, number_in(rows.rows[0][1]));
  add("I/O calls", Measure::kCount, number_in(rows.rows[0][2]));
  add("failed I/O calls", Measure::kCount, number_in(rows.rows[0][3]));
  return {};
}

// The time of all threads, and how much of it lies outside of what was recorded.
Status add_times(Store& store, RunSums& run) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  run.wall = static_cast<double>(base.wall);
  run.thread_time = static_cast<double>(base.thread_time);
  run.outside = static_cast<double>(base.thread_time - base.in_calls);
  return {};
}

std::string trouble_of(const Store& store) {
  const trace::RunState state = store.state();
  if (state == trace::RunState::kComplete) return "";
  for (const Part& part : store.parts()) {
    if (!part.damaged.empty()) {
      const trace::DamagedFile& file = part.damaged.front();
      return fmt::format("{}: {}", base_name(file.path), file.reason);
    }
    if (!part.manifest.state_reason.empty()) return part.manifest.state_reason;
  }
  return std::string(trace::to_text(state));
}

RunNature nature_of(const Store& store) {
  const trace::Manifest& first = store.parts()[0].manifest;
  RunNature nature;
  nature.command = shell_join(first.command);
  nature.machine = join({first.host.hostname, first.host.cpu_model}, ", ");
  nature.path_filter = join(first.path_filter, ",");
  for (const trace::LayerState& layer : layers_of(store.parts())) {
    if (layer.state == "on" || layer.state == "partial") nature.layers.push_back(layer.layer);
  }
  nature.trouble = trouble_of(store);
  for (const trace::Loss& loss : losses_of(store.parts())) add_to(nature.lost, loss.count);
  nature.exit_status = first.exit_status;
  return nature;
}

}  // namespace

std::span<const Grouping> groupings() {
  static const std::vector<Grouping> groupings = {
      {"layer", "By layer", "layers", {"layer"}, true},
      {"name", "By function", "functions", {"name", "layer"}, true},
      {"file", "By file", "files", {"file"}, false},
      {"category", "By category", "categories", {"category"}, true},
      {"pid", "By process", "processes", {"program", "number"}, true},
  };
  return groupings;
}

Result<RunSums> read_run(Store& store, const std::string& path) {
  RunSums run;
  run.path = path;
  run.directory = store.parts()[0].manifest.cwd;
  run.recording = store.parts()[0].directory;
  for (const Part& part : store.parts()) {
    run.directory = common_directory(run.directory, part.manifest.cwd);
    run.recording = common_directory(run.recording, part.directory);
  }
  run.nature = nature_of(store);
  FATHOM_TRY(add_times(store, run));
  FATHOM_ASSIGN(run.counters, counter_sums(store));
  FATHOM_TRY(add_figures(store, run));
  for (const Grouping& grouping : groupings()) {
    FATHOM_ASSIGN(run.groups[std::string(grouping.name)], groups_of(store, grouping));
  }
  return run;
}

}  // namespace fathom::analysis
