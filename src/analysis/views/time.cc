// SPDX-License-Identifier: MIT
// The account of all threads' lives: on a CPU by function, off it by what was waited for, ready and
// not let, and what nobody can tell. Samples and stretches are laid over the calls that were
// recorded, on one clock.
#include <fmt/format.h>

#include <string>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"
#include "analysis/wait_causes.h"
#include "base/text.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
// Shorter calls hold no wait that is worth the search.
constexpr std::int64_t kShortestCall = 5000;

// ("function", cause, rank) of every function that tells.
std::string causes_sql() {
  std::string rows;
  int rank = 0;
  for (const WaitCause& one : kWaitCauses) {
    ++rank;
    for (const std::string_view name : split(one.functions, ' ')) {
      rows += fmt::format("{}({}, {}, {})", rows.empty() ? "" : ", ", sql::quote_literal(name),
                          sql::quote_literal(one.cause), rank);
    }
  }
  return "SELECT * FROM (VALUES " + rows + ") AS told(\"function\", cause, rank)";
}

// A thread waits in the call that it began last, if that has not ended. What the call leads to
// tells more than its name: read() of a pipe.
constexpr char kSql[] = R"(
  WITH causes AS MATERIALIZED ({causes}),
  once AS (SELECT DISTINCT stack, depth, "function" FROM frames),
  leaves AS (SELECT stack, max_by(coalesce("function", 'unknown'), depth) AS "function"
             FROM once GROUP BY stack),
  told AS (SELECT stack, min_by(cause, rank) AS cause, min_by("function", rank) AS "function"
           FROM once JOIN causes USING ("function") GROUP BY stack),
  lives AS (
    SELECT coalesce(host, '') AS host, pid, tid, sum(coalesce("end", run.finish) - start) AS life,
           sum(ready) AS ready
    FROM threads, (SELECT max(coalesce("end", 0)) AS finish FROM processes) AS run GROUP BY ALL),
  programs AS (
    SELECT coalesce(host, '') AS host, pid, max_by(name, start) AS name FROM processes GROUP BY ALL),
  taken AS (SELECT * REPLACE (coalesce(host, '') AS host) FROM samples),
  running AS (
    SELECT 'running' AS state, 'function' AS cause,
           coalesce(l."function", p.name || ' (too short to be sampled)', 'unknown') AS name,
           sum(s.weight) AS "time"
    FROM taken s LEFT JOIN leaves l USING (stack) LEFT JOIN programs p USING (host, pid)
    WHERE s.event = 'cpu-clock' GROUP BY ALL),
  stretches AS (
    SELECT host, pid, tid, ts, stack, weight, coalesce(ready, 0) AS ready FROM taken
    WHERE event = 'off-cpu'),
  -- What the kernel counted as ready beyond what stretches tell: who is woken has to wait for a CPU.
  late AS (
    SELECT host, pid, tid, greatest(0, any_value(l.ready) - sum(s.ready)) AS extra,
           sum(s.weight - s.ready) AS slept
    FROM stretches s JOIN lives l USING (host, pid, tid) GROUP BY host, pid, tid),
  calls AS (
    SELECT coalesce(host, '') AS host, pid, tid, ts, ts + dur AS stop, layer, name, file,
           args['peer'] AS peer
    FROM events WHERE dur >= {shortest} AND layer NOT IN @beside AND layer NOT IN @code
      AND layer NOT IN @kernel),
  inside AS (
    SELECT s.*, c.layer, c.name, c.file, c.peer, c.ts AS since, c.stop
    FROM stretches s ASOF LEFT JOIN calls c
      ON s.host = c.host AND s.pid = c.pid AND s.tid = c.tid AND s.ts >= c.ts),
  named AS (
    SELECT i.host, i.pid, i.tid, i.weight - i.ready AS asleep, i.ready,
           if(i.ts < i.stop, i.name, NULL) AS call,
           CASE WHEN i.ts >= i.stop OR i.stop IS NULL THEN NULL
                WHEN i.layer IN @device OR i.layer = 'cuda' THEN 'gpu'
                WHEN starts_with(i.peer, 'pipe') THEN 'pipe'
                WHEN starts_with(i.peer, 'socket') THEN 'socket'
                WHEN c.cause IS NOT NULL THEN c.cause
                WHEN t.cause IS NOT NULL THEN t.cause
                WHEN i.file IS NOT NULL THEN 'file'
                ELSE 'other' END AS cause_of_call,
           t.cause AS cause_of_stack, t."function" AS waits_in, l."function" AS leaf
    FROM inside i LEFT JOIN causes c ON c."function" = i.name AND i.ts < i.stop
      LEFT JOIN told t ON t.stack = i.stack LEFT JOIN leaves l ON l.stack = i.stack),
  waiting AS (
    SELECT 'waiting' AS state, coalesce(cause_of_call, cause_of_stack, 'other') AS cause,
           coalesce(call, waits_in, leaf) AS name,
           sum(asleep * (1 - coalesce(least(extra, slept) / nullif(slept, 0), 0))) AS "time"
    FROM named LEFT JOIN late USING (host, pid, tid) WHERE asleep > 0 GROUP BY ALL),
  ready AS (
    SELECT 'ready' AS state, 'run queue' AS cause, 'waits for a CPU' AS name,
           (SELECT coalesce(sum(ready), 0) FROM stretches) +
             (SELECT coalesce(sum(least(extra, slept)), 0) FROM late) AS "time"),
  known AS (
    SELECT * FROM running UNION ALL SELECT * FROM waiting WHERE name IS NOT NULL
    UNION ALL SELECT * FROM ready WHERE "time" > 0),
  whole AS (
    SELECT sum(life) AS life FROM lives
    WHERE EXISTS (SELECT 1 FROM processes WHERE rung IS NOT NULL)),
  rounded AS (
    SELECT state, cause, name, CAST(round("time") AS BIGINT) AS "time" FROM known)
  SELECT state, cause, name, "time", round(100 * "time" / nullif(life, 0), 6) AS share
  FROM (SELECT *, 0 AS last FROM rounded
        UNION ALL
        SELECT 'unexplained', NULL, NULL,
               CAST(coalesce((SELECT life FROM whole), 0) -
                    coalesce((SELECT sum("time") FROM rounded), 0) AS BIGINT), 1), whole
  WHERE life IS NOT NULL
  ORDER BY last, "time" DESC, state, cause, name)";

std::string time_sql() {
  return layer_sql(
      fmt::format(kSql, fmt::arg("causes", causes_sql()), fmt::arg("shortest", kShortestCall)));
}

std::string sql() {
  static const std::string text = time_sql();
  return text;
}

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table, time_table(store));
  if (table.rows.empty())
    table.note = "layer cpu recorded nothing; 'fathom report TRACE layers' says why";
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
  FATHOM_ASSIGN(Table table, store.query(sql()));
  table.title = "Where the threads' time went";
  set_measures(table, {{"time", kNanoseconds}, {"share", kPercent}});
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
    .by = {},
    .run = run,
    .sql = sql,
    .of_events = true,
};

}  // namespace fathom::analysis
