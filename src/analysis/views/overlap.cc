// SPDX-License-Identifier: MIT
// I/O that no compute hides, and compute that no I/O hides. Which moments overlap is a question
// about all threads at once: a pass in C++ makes the table (walk/overlap_pass.h), since SQL would
// have to join every event with every other.
#include <fmt/format.h>

#include "analysis/view_tools.h"
#include "analysis/views/scopes.h"
#include "analysis/walk/overlap_pass.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 50;
constexpr std::string_view kBy[] = {"host", "pid", "tid"};

std::string sql() { return "FROM overlap_times"; }

Result<Report> run(Store& store, const ViewOptions& options) {
  const Scope& scope = scope_of(options.by);
  const std::string keys = columns_sql(scope.keys);
  const std::int64_t rows = rows_wanted(options, kRows);
  FATHOM_TRY(store.ensure(make_overlap));
  FATHOM_ASSIGN(Table table,
                store.query(fmt::format(
                    "SELECT {} * EXCLUDE (scope, host, pid, tid), count(*) OVER () AS all_rows "
                    "FROM overlap WHERE scope = '{}' AND busy > 0 ORDER BY busy DESC{} {}",
                    keys.empty() ? "" : keys + ",", scope.name, keys.empty() ? "" : ", " + keys,
                    limit_sql(rows))));
  const std::int64_t all = take_row_count(table);
  table.title = "Overlap of I/O and compute";
  for (Column& column : table.columns) {
    if (std::ranges::find(kBy, column.name) == std::end(kBy)) column.measure = kNanoseconds;
  }
  table.note = all == 0 ? "no I/O and no region was recorded" : "overlapping time counts once";
  note_left_out(table, all, "rows");
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kOverlapView;
const ViewDef kOverlapView = {
    .name = "overlap",
    .help = "overlap of I/O and computation, of the run or by thread",
    .by = kBy,
    .run = run,
    .sql = sql,
    .make = make_overlap,
    .of_events = true,
};

}  // namespace fathom::analysis
