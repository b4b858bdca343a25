// SPDX-License-Identifier: MIT
// Layers: the time in each, what was recorded and why not, and what was lost.
#include <fmt/format.h>

#include "analysis/contract.h"
#include "analysis/view_tools.h"
#include "analysis/views/layer_notes.h"
#include "analysis/views/scopes.h"
#include "analysis/views/tables.h"
#include "analysis/walk/layer_walls.h"
#include "base/plural.h"
#include "base/text.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

using enum Measure;

// Top down, and what the design does not know last.
std::string layer_order() {
  std::string text = "CASE layer";
  int number = 0;
  for (const std::string_view layer : layer_names()) {
    text += fmt::format(" WHEN '{}' THEN {}", layer, number++);
  }
  return text + fmt::format(" ELSE {} END", number);
}

constexpr std::int64_t kRows = 50;
constexpr std::string_view kBy[] = {"host", "pid", "tid"};

void set_layer_measures(Table& table) {
  set_measures(table, {{"wall", kNanoseconds},
                       {"self", kNanoseconds},
                       {"share", kPercent},
                       {"total", kNanoseconds},
                       {"calls", kCount},
                       {"errors", kCount},
                       {"bytes", kBytes}});
}

constexpr char kSums[] =
    R"(CAST(sum(self) AS BIGINT) AS self, CAST(sum(dur) AS BIGINT) AS total,
       CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors,
       CAST(sum(bytes) FILTER (calls > 0) AS BIGINT) AS bytes)";

// Of the run and of hosts, from what was summed while decoding. Several recordings may have covered
// the same time: of a stretch counts what lies behind the end of those that began before.
std::string layers_of_sums(const Scope& scope) {
  const std::string host = scope.keys.empty() ? "CAST(NULL AS VARCHAR)" : "host";
  return fmt::format(
      R"(SELECT {scope}, s.layer, wall, self, total, calls, errors, bytes
         FROM (SELECT {host} AS host, layer, {sums} FROM summary GROUP BY ALL) s
         LEFT JOIN (
           SELECT h, layer, CAST(sum(CASE WHEN dur > 0 THEN covered * (
                    greatest(stop - greatest(ts, coalesce(before, ts)), 0) / dur) ELSE 0 END)
                    AS BIGINT) AS wall
           FROM (SELECT {host} AS h, layer, ts, dur, ts + dur AS stop, covered,
                        max(ts + dur) OVER (PARTITION BY {host}, layer ORDER BY ts, dur ROWS BETWEEN
                          UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM coverage)
           GROUP BY ALL) w ON w.layer = s.layer AND w.h IS NOT DISTINCT FROM s.host)",
      fmt::arg("scope", scope_columns_sql(scope)), fmt::arg("host", host), fmt::arg("sums", kSums));
}

// Of processes and threads.
std::string layers_of_events(const Scope& scope) {
  std::string same = fmt::format("w.scope = '{}' AND w.layer = s.layer", scope.name);
  for (const std::string& key : scope.keys)
    same += fmt::format(" AND w.{0} IS NOT DISTINCT FROM s.{0}", key);
  return fmt::format(
      R"(SELECT {scope}, s.layer, coalesce(wall, 0) AS wall, self, total, calls, errors, bytes
         FROM (SELECT {keys}, layer, {sums} FROM (
                 SELECT host, pid, tid, layer, self, dur, 1 AS calls, error IS NOT NULL AS errors, bytes
                 FROM events) GROUP BY {keys}, layer) s
         LEFT JOIN (SELECT scope, host, pid, tid, layer, wall FROM layer_walls) w ON {same})",
      fmt::arg("scope", scope_columns_sql(scope, "s.")), fmt::arg("keys", columns_sql(scope.keys)),
      fmt::arg("sums", kSums), fmt::arg("same", same));
}

Result<Table> layers_by(Store& store, const ViewOptions& options) {
  const Scope& scope = scope_of(options.by);
  const std::int64_t rows = rows_wanted(options, kRows);
  if (scope.keys.size() >= 2) FATHOM_TRY(store.ensure(make_layer_walls));
  const std::string sums = scope.keys.size() < 2 ? layers_of_sums(scope) : layers_of_events(scope);
  FATHOM_ASSIGN(Table table, store.query(fmt::format(
                                 "SELECT {}, layer, wall, self, total, calls, errors, bytes, "
                                 "count(*) OVER () AS all_rows FROM ({}) ORDER BY {}, {} {}",
                                 columns_sql(scope.keys), sums, columns_sql(scope.keys),
                                 layer_order(), limit_sql(rows))));
  const std::int64_t all = take_row_count(table);
  table.title = fmt::format("Time by layer and {}", scope.name);
  set_layer_measures(table);
  note_left_out(table, all, "rows");
  return table;
}

Result<Report> run_layers(Store& store, const ViewOptions& options) {
  if (!options.by.empty()) {
    FATHOM_ASSIGN(Table time, layers_by(store, options));
    return Report{.words = {}, .sections = {{std::move(time)}}};
  }
  FATHOM_ASSIGN(Table time, layer_time_table(store));
  FATHOM_ASSIGN(Table layers, layers_table(store));
  return Report{.words = {}, .sections = {{std::move(time)}, {std::move(layers)}}};
}

std::string layer_time_sql() {
  const std::vector<Scope>& all = scopes();
  return layers_of_sums(all[0]) + " UNION ALL " + layers_of_sums(all[1]) + " UNION ALL " +
         layers_of_events(all[2]) + " UNION ALL " + layers_of_events(all[3]);
}

// Where nobody tells what threads did between recorded calls.
std::vector<Value> outside_row(const TimeBase& base) {
  const std::int64_t outside = base.thread_time - base.in_calls;
  return {std::string("(outside recorded calls)"),
          Value(),
          outside,
          percent_of(outside, base.thread_time),
          Value(),
          Value(),
          Value(),
          Value()};
}

Result<Report> run_losses(Store& store, const ViewOptions&) {
  FATHOM_ASSIGN(Table losses, losses_table(store));
  return Report{.words = {}, .sections = {{std::move(losses)}}};
}

}  // namespace

Result<Table> layer_time_table(Store& store) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  FATHOM_ASSIGN(Table table,
                store.query(fmt::format("SELECT layer, wall, self, NULL AS share, total, calls, "
                                        "errors, bytes FROM ({}) ORDER BY {}",
                                        layers_of_sums(scopes()[0]), layer_order())));
  table.title = "Time by layer";
  set_layer_measures(table);
  bool has_devices = false;
  for (auto& row : table.rows) {
    if (trace::is_device(text_of(row[0]))) {
      has_devices = true;
    } else {
      row[3] = percent_of(int_of(row[2]), base.thread_time);
    }
  }
  FATHOM_ASSIGN(const bool accounted, is_accounted(store));
  if (!accounted) table.rows.push_back(outside_row(base));
  table.note = fmt::format(
      "wall: at least one thread was here, of {}; self: excludes nested calls; total: includes "
      "them; "
      "100 % is {}, the lifetime of {}",
      human_ns(static_cast<double>(base.wall)), human_ns(static_cast<double>(base.thread_time)),
      counted(base.threads, "thread"));
  if (has_devices) table.note += "; gpu: time of GPUs, which no thread spent";
  note_overlaps(table);
  return table;
}

Result<Table> layers_table(Store& store) {
  FATHOM_ASSIGN(Table table, store.query("SELECT layer, state, events, reason FROM layers"));
  table.title = "Layers";
  set_measures(table, {{"events", kCount}});
  return table;
}

Result<Table> losses_table(Store& store) {
  FATHOM_ASSIGN(Table table, store.query("SELECT CASE layer WHEN '' THEN 'all' ELSE layer END AS "
                                         "layer, reason, \"count\" FROM losses ORDER BY 3 DESC"));
  table.title = "Losses";
  set_measures(table, {{"count", kCount}});
  if (table.rows.empty()) table.note = "nothing was lost";
  return table;
}

extern const ViewDef kLayersView;
const ViewDef kLayersView = {
    .name = "layers",
    .help = "time in each layer, and what was recorded or why not",
    .by = kBy,
    .run = run_layers,
    .sql = layer_time_sql,
    .sql_name = "layer_time",
    .make = make_layer_walls,
    .of_events = true,
    .plain_of_sums = true,
};

extern const ViewDef kLossesView;
const ViewDef kLossesView = {
    .name = "losses",
    .help = "events that were dropped, cut or skipped, by reason",
    .by = {},
    .run = run_losses,
};

}  // namespace fathom::analysis
