// SPDX-License-Identifier: MIT
// The account of all threads' lives: on a CPU by function, off it by what was waited for, ready and
// not let, and what nobody can tell. Samples and stretches are laid over the calls that were
// recorded, on one clock.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/view_tools.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kBy[] = {"state", "cause"};
// Running by the innermost function, waiting by what was waited for, and ready: what stretches
// tell, and what waits had to give of theirs.
constexpr char kSql[] = R"(
  WITH leaves AS (
    SELECT stack, max_by(coalesce("function", 'unknown'), depth) AS "function"
    FROM (SELECT DISTINCT stack, depth, "function" FROM frames) GROUP BY stack),
  life AS (
    SELECT life FROM totals WHERE EXISTS (SELECT 1 FROM processes WHERE rung IS NOT NULL)
      AND EXISTS (SELECT 1 FROM threads)),
  programs AS (
    SELECT coalesce(host, '') AS host, pid, max_by(name, start) AS name FROM processes GROUP BY ALL),
  taken AS (SELECT * REPLACE (coalesce(host, '') AS host) FROM samples),
  waited AS MATERIALIZED (SELECT cause, name, "time", ready FROM waits),
  known AS (
    SELECT 'running' AS state, 'function' AS cause,
           coalesce(l."function", p.name || ' (too short to be sampled)', 'unknown') AS name,
           CAST(sum(s.weight) AS BIGINT) AS "time"
    FROM taken s LEFT JOIN leaves l USING (stack) LEFT JOIN programs p USING (host, pid)
    WHERE s.event = 'cpu-clock' GROUP BY ALL
    UNION ALL
    SELECT 'waiting', cause, name, CAST(sum("time") AS BIGINT) FROM waited
    WHERE name IS NOT NULL GROUP BY ALL
    UNION ALL
    SELECT 'ready', 'run queue', 'waits for a CPU',
           CAST((SELECT coalesce(sum(ready), 0) FROM taken WHERE event = 'off-cpu') +
                (SELECT coalesce(sum(ready), 0) FROM waited) AS BIGINT)),
  -- What is left is at most some ns of rounding, or waits that nobody can name.
  rows AS (
    SELECT *, 0 AS last FROM known WHERE "time" > 0
    UNION ALL
    SELECT 'unexplained', NULL, NULL,
           CAST(coalesce((SELECT life FROM life), 0) -
                coalesce((SELECT sum("time") FROM known), 0) AS BIGINT), 1)
  SELECT state, cause, name, "time", round(100 * "time" / nullif(life, 0), 6) AS share
  FROM rows, life WHERE life IS NOT NULL
  ORDER BY last, "time" DESC, state, cause, name)";

std::string sql() { return kSql; }

void dress(Table& table) {
  table.title = "Where the threads' time went";
  set_measures(table, {{"time", kNanoseconds}, {"share", kPercent}});
}

// Functions and names are added up; what is unexplained is last here, too.
Result<Table> grouped_table(Store& store, const std::vector<std::string>& by) {
  FATHOM_ASSIGN(
      Table table,
      store.query(fmt::format(
          R"(SELECT {keys}, CAST(sum("time") AS BIGINT) AS "time", round(sum(share), 6) AS share
             FROM "time" GROUP BY {keys} ORDER BY bool_and(state = 'unexplained'), "time" DESC, {keys})",
          fmt::arg("keys", columns_sql(by)))));
  dress(table);
  return table;
}

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table,
                options.by.empty() ? time_table(store) : grouped_table(store, options.by));
  if (table.rows.empty())
    table.note = "no sample of layer cpu is here; 'fathom report TRACE layers' says why";
  keep_top(table, rows_wanted(options, kRows));
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

Result<bool> is_accounted(Store& store) {
  FATHOM_ASSIGN(const Table found,
                store.query("SELECT count(*) FROM processes WHERE rung IS NOT NULL"));
  return int_of(found.rows.at(0).at(0)) > 0;
}

Result<Table> time_table(Store& store) {
  FATHOM_TRY(hold_waits(store));
  FATHOM_ASSIGN(Table table, store.query(kSql));
  // All of it unexplained is no account: there are no samples, or a filter has left them out.
  if (table.rows.size() == 1 && text_of(table.rows[0][0]) == "unexplained") table.rows.clear();
  dress(table);
  return table;
}

void keep_top(Table& time, std::int64_t rows) {
  const auto all = static_cast<std::int64_t>(time.rows.size());
  if (rows > 0 && all > rows) {  // what is unexplained stays
    time.rows.erase(time.rows.begin() + rows - 1, time.rows.end() - 1);
  }
  note_left_out(time, all, "rows");
}

extern const ViewDef kTimeView;
const ViewDef kTimeView = {
    .name = "time",
    .help = "all threads' time: running by function, waiting by cause, ready",
    .by = kBy,
    .run = run,
    .sql = sql,
    .of_events = true,
};

}  // namespace fathom::analysis
