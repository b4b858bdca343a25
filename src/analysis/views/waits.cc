// SPDX-License-Identifier: MIT
// What threads waited for, one row for each call and what it waited for.
#include <fmt/format.h>

#include <string>

#include "analysis/view_tools.h"
#include "analysis/waits_sql.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kBy[] = {"host", "pid", "tid", "caller"};

std::string sql() { return waits_sql(); }

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::string keys = options.by.empty() ? "" : columns_sql(options.by) + ", ";
  FATHOM_ASSIGN(
      Table table,
      store.query(fmt::format(
          R"(SELECT {keys} cause, coalesce(name, 'unknown') AS name, CAST(sum("time") AS BIGINT) AS "time",
                    CAST(sum(waits) AS BIGINT) AS waits, max(longest) AS longest,
                    count(DISTINCT (host, pid, tid)) AS threads, count(*) OVER () AS all_rows
             FROM waits GROUP BY {keys} cause, name ORDER BY "time" DESC, {keys} cause, name {limit})",
          fmt::arg("keys", keys), fmt::arg("limit", limit_sql(rows_wanted(options, kRows))))));
  const std::int64_t all = take_row_count(table);
  table.title = "What threads waited for";
  set_measures(
      table,
      {{"time", kNanoseconds}, {"waits", kCount}, {"longest", kNanoseconds}, {"threads", kCount}});
  if (all == 0) table.note = "no wait was recorded; 'fathom report TRACE layers' says what was";
  note_left_out(table, all, "rows");
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kWaitsView;
const ViewDef kWaitsView = {
    .name = "waits",
    .help = "what threads waited for: locks, sleeps, pipes, sockets, children, files",
    .by = kBy,
    .run = run,
    .sql = sql,
    .of_events = true,
};

}  // namespace fathom::analysis
