// SPDX-License-Identifier: MIT
// When GPUs had nothing to do, and what the host did meanwhile.
#include <fmt/format.h>

#include "analysis/view_tools.h"
#include "analysis/walk/gpu_idle_pass.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;

std::string sql() {
  return "SELECT host, device, cause, layer, name, \"time\", stretches, longest, longest_at "
         "FROM gpu_idle_times";
}

Result<Table> devices(Store& store) {
  FATHOM_ASSIGN(
      Table table,
      store.query("SELECT host, device, CAST(sum(time) AS BIGINT) AS span, "
                  "CAST(coalesce(sum(time) FILTER (cause = 'busy'), 0) AS BIGINT) AS busy, "
                  "CAST(coalesce(sum(time) FILTER (cause <> 'busy'), 0) AS BIGINT) AS idle, "
                  "100.0 * coalesce(sum(time) FILTER (cause <> 'busy'), 0) / sum(time) AS share, "
                  "CAST(sum(stretches) FILTER (cause = 'busy') - 1 AS BIGINT) AS gaps "
                  "FROM gpu_idle_times GROUP BY host, device ORDER BY host, device"));
  table.title = "GPUs, from the first to the last thing that each did";
  set_measures(table, {{"span", kNanoseconds},
                       {"busy", kNanoseconds},
                       {"idle", kNanoseconds},
                       {"share", kPercent},
                       {"gaps", kCount}});
  set_ranks(table, {"gaps", "span", "host"});
  if (table.rows.empty()) table.note = "no GPU activity was recorded; use fathom run --layers +gpu";
  return table;
}

// Of what was done in one region or call in between, the cause alone; what the time of the host
// went to, the most first.
Result<Table> causes(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(
      Table table,
      store.query(fmt::format(
          "SELECT host, device, cause, layer, name, CAST(sum(time) AS BIGINT) AS idle, "
          "100.0 * sum(time) / sum(sum(time)) OVER (PARTITION BY host, device) AS share, "
          "CAST(sum(stretches) AS BIGINT) AS stretches, max(longest) AS longest, "
          "arg_max(longest_at, longest) AS longest_at, "
          "count(*) OVER () AS all_rows FROM gpu_idle_times WHERE cause <> 'busy' "
          "GROUP BY host, device, cause, layer, name ORDER BY idle DESC, host, device, cause, "
          "layer, name {}",
          limit_sql(rows_wanted(options, kRows)))));
  const std::int64_t all = take_row_count(table);
  table.title = "What the host did while a GPU was idle";
  set_measures(table, {{"idle", kNanoseconds},
                       {"share", kPercent},
                       {"stretches", kCount},
                       {"longest", kNanoseconds},
                       {"longest_at", kNanoseconds}});
  set_ranks(table, {"longest_at", "stretches", "layer", "longest", "host"});
  if (all > 0)
    table.note =
        "what the thread did that launched the next work; launch: in the launch call; start: from "
        "the launch until the work began; queued: already launched, waiting for other work";
  note_left_out(table, all, "rows");
  return table;
}

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_TRY(store.ensure(make_gpu_idle));
  FATHOM_ASSIGN(Table first, devices(store));
  FATHOM_ASSIGN(Table second, causes(store, options));
  Report report;
  report.sections.push_back({std::move(first)});
  if (!second.rows.empty()) report.sections.push_back({std::move(second)});
  return report;
}

}  // namespace

extern const ViewDef kGpuIdleView;
const ViewDef kGpuIdleView = {
    .name = "gpu-idle",
    .help = "when GPUs were idle, and what the host did meanwhile",
    .by = {},
    .run = run,
    .sql = sql,
    .sql_name = "gpu_idle",
    .make = make_gpu_idle,
    .of_events = true,
};

}  // namespace fathom::analysis
