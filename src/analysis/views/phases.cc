// SPDX-License-Identifier: MIT
// Regions that come again and again: the epochs and steps of a training loop. What is a phase is
// not asked of anybody: any annotated region that ran twice in a thread is one.
#include <fmt/format.h>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/walk/tree_pass.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 20;

// What lies inside, in the same thread, comes from the tree.
std::string sql() {
  static const std::string kText = layer_sql(R"(
    WITH inside AS (
      SELECT phase, CAST(coalesce(sum(self) FILTER (layer IN @code), 0) AS BIGINT) AS app,
             CAST(coalesce(sum(self) FILTER (layer IN @io), 0) AS BIGINT) AS io,
             CAST(coalesce(sum(self) FILTER (layer NOT IN @own), 0)
                  AS BIGINT) AS other
      FROM (SELECT layer, self, unnest(list_distinct(path)) AS phase FROM tree) GROUP BY phase)
    SELECT phase_times.*, app, io, other FROM phase_times JOIN inside USING (phase))");
  return kText;
}

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_TRY(store.ensure(make_tree));
  FATHOM_ASSIGN(Table table, store.query("SELECT *, count(*) OVER () AS all_rows FROM phases "
                                         "ORDER BY total DESC, calls, phase" +
                                         limit_sql(rows_wanted(options, kRows))));
  const std::int64_t all = take_row_count(table);
  table.title = "Phases";
  set_measures(table, {{"calls", kCount},
                       {"total", kNanoseconds},
                       {"median", kNanoseconds},
                       {"p95", kNanoseconds},
                       {"first", kNanoseconds},
                       {"rest", kNanoseconds},
                       {"trend", kPercent},
                       {"app", kNanoseconds},
                       {"io", kNanoseconds},
                       {"other", kNanoseconds}});
  table.note = all == 0
                   ? "no annotated region ran twice in a thread"
                   : "first: mean of each thread's first; rest: median of the others; trend: how "
                     "much longer each takes than the one before; app, io, other: self time inside";
  note_left_out(table, all, "phases");
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kPhasesView;
const ViewDef kPhasesView = {
    .name = "phases",
    .help = "repeated regions, such as epochs and steps: duration, first versus rest, trend",
    .by = {},
    .run = run,
    .sql = sql,
    .make = make_tree,
    .of_events = true,
};

}  // namespace fathom::analysis
