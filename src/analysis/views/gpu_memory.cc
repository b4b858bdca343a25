// SPDX-License-Identifier: MIT
// Memory of GPUs that a program allocated: by process, device and kind of memory. What was in use
// stands in the records, so that a lost one does not make the rest wrong.
#include <fmt/format.h>

#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

using enum Measure;

// Of calls that worked: one that failed made and freed nothing, and says no kind. A graph that is
// launched may give back what another one made, and make nothing.
std::string sql() {
  return R"(WITH told AS (
              SELECT * REPLACE (coalesce(TRY_CAST(args['graph_memory'] AS BIGINT), size) AS size),
                     args['memory'] AS memory,
                     coalesce(TRY_CAST(args['in_use'] AS BIGINT), 0) AS in_use,
                     name IN ('cuMemFree', 'cuMemFreeAsync', 'cuMemFreeHost', 'cuMemRelease',
                              'cuMemUnmap', 'cuMemHostUnregister', 'cuArrayDestroy',
                              'cuMipmappedArrayDestroy')
                     OR (name = 'cuGraphLaunch' AND args['graph_memory'] IS NULL) AS frees
              FROM events WHERE layer = 'cuda' AND args['memory'] IS NOT NULL)
            SELECT host, pid, device, memory, count(*) FILTER (NOT frees) AS allocations,
                   count(*) FILTER (frees) AS frees,
                   CAST(coalesce(sum(size) FILTER (NOT frees), 0) AS BIGINT) AS allocated,
                   max(in_use) AS peak, arg_max(in_use, ts + dur) AS in_use
            FROM told GROUP BY host, pid, device, memory)";
}

Result<Report> run(Store& store, const ViewOptions& options) {
  constexpr std::int64_t kRows = 30;
  FATHOM_ASSIGN(
      Table table,
      store.query(fmt::format(
          "SELECT *, count(*) OVER () AS all_rows FROM ({}) ORDER BY peak DESC, host, pid, device, "
          "memory {}",
          sql(), limit_sql(rows_wanted(options, kRows)))));
  const std::int64_t all = take_row_count(table);
  table.title = "Memory allocated from the CUDA driver";
  set_measures(table, {{"allocations", kCount},
                       {"frees", kCount},
                       {"allocated", kBytes},
                       {"peak", kBytes},
                       {"in_use", kBytes}});
  set_ranks(table, {"allocated", "frees", "allocations", "host"});
  table.note = all == 0 ? "no allocation was recorded; use fathom run --layers +cuda"
                        : "in_use: at the end; pool: from memory pools; physical: from "
                          "cuMemCreate; graph: by launched CUDA graphs";
  note_left_out(table, all, "kinds of memory");
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kGpuMemoryView;
const ViewDef kGpuMemoryView = {
    .name = "gpu-memory",
    .help = "memory allocated on GPUs: peak and what is left, by kind",
    .by = {},
    .run = run,
    .sql = sql,
    .sql_name = "gpu_memory",
    .of_events = true,
};

}  // namespace fathom::analysis
