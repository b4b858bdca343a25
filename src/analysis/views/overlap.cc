// SPDX-License-Identifier: MIT
// I/O that no compute hides, and compute that no I/O hides.
#include <fmt/format.h>

#include "analysis/view_tools.h"
#include "analysis/views/kinds.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 50;
constexpr std::string_view kBy[] = {"host", "pid", "tid"};

// Threads in each kind after every turn, and how long that lasts until the next one.
std::string overlap_of(const Scope& scope) {
  const std::string keys = columns_sql(scope.keys);
  const auto sum = [](std::string_view when, std::string_view name) {
    return fmt::format("CAST(coalesce(sum(dur) FILTER ({}), 0) AS BIGINT) AS {}", when, name);
  };
  return fmt::format(
      R"(SELECT {scope}, {sums} FROM (
           SELECT {columns} lead(ts) OVER later - ts AS dur, sum(io) OVER later > 0 AS low,
                  sum(io + region_io) OVER later > 0 AS io, sum(compute) OVER later > 0 AS computes
           FROM turns WINDOW later AS ({partition} ORDER BY ts ROWS UNBOUNDED PRECEDING))
         {group})",
      fmt::arg("scope", scope_columns_sql(scope)),
      fmt::arg("columns", keys.empty() ? "" : keys + ","),
      fmt::arg(
          "sums",
          join({sum("io OR computes", "busy"), sum("io", "app_io"),
                sum("io AND NOT computes", "unoverlapped_app_io"), sum("low", "posix_io"),
                sum("low AND NOT computes", "unoverlapped_posix_io"), sum("computes", "compute"),
                sum("computes AND NOT io", "unoverlapped_compute")},
               ", ")),
      fmt::arg("partition", keys.empty() ? "" : "PARTITION BY " + keys),
      fmt::arg("group", keys.empty() ? "" : "GROUP BY " + keys));
}

std::string sql() {
  std::vector<std::string> all;
  for (const Scope& scope : scopes()) all.push_back(overlap_of(scope));
  return join(all, " UNION ALL ");
}

Result<Report> run(Store& store, const ViewOptions& options) {
  const Scope& scope = scope_of(options.by);
  const std::string keys = columns_sql(scope.keys);
  const std::int64_t rows = rows_wanted(options, kRows);
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
  table.note = all == 0 ? "no I/O and no region was recorded" : "what overlaps counts once";
  note_left_out(table, all, "rows");
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kOverlapView;
const ViewDef kOverlapView = {
    .name = "overlap",
    .help = "I/O that no compute hides and compute that no I/O hides, of the run or --by thread",
    .by = kBy,
    .run = run,
    .sql = sql,
    .of_events = true,
};

}  // namespace fathom::analysis
