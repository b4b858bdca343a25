// SPDX-License-Identifier: MIT
// Who took part: processes and threads.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 50;

// One row for a pid and program image, with what that image did. Counts of the kernel name no
// image: they are of the one that lived longest while they were counted. Operations of io_uring
// lie beside each other: nobody is in calls for longer than their threads lived.
constexpr char kProcesses[] = R"(
  WITH images AS (
    SELECT *, coalesce(host, '') AS machine, coalesce("end", $1) AS stop,
           row_number() OVER (PARTITION BY host, pid ORDER BY start) AS nth FROM processes),
  numbered AS (SELECT *, coalesce(host, '') AS machine, row_number() OVER () AS number FROM summary),
  whose AS (
    SELECT s.*, coalesce(p.nth, 1) AS nth
    FROM numbered s LEFT JOIN images p
      ON p.machine = s.machine AND p.pid = s.pid AND coalesce(p.process = s.process, true)
    QUALIFY row_number() OVER (
      PARTITION BY number ORDER BY p.process = s.process DESC NULLS LAST,
        least(p.stop, s.last) - greatest(p.start, s.first) DESC NULLS LAST, p.nth) = 1),
  sums AS (
    SELECT machine, pid, nth, CAST(@in_calls AS BIGINT) AS in_calls,
           CAST(sum(calls) FILTER (once) AS BIGINT) AS calls,
           CAST(sum(bytes) FILTER (once AND category = 'read') AS BIGINT) AS read,
           CAST(sum(bytes) FILTER (once AND category = 'write') AS BIGINT) AS written
    FROM (SELECT *, @once AS once FROM whose) GROUP BY machine, pid, nth),
  lives AS (
    SELECT coalesce(host, '') AS machine, pid, sum(coalesce("end", $1) - start) AS life
    FROM threads GROUP BY ALL)
  SELECT p.host, p.pid, p.ppid, p.name, p.command, p.start, coalesce(p."end", $1) - p.start AS wall,
         p.exit, CAST(if(s.calls IS NULL, NULL, least(s.in_calls, l.life)) AS BIGINT)
           AS in_calls, s.calls, s.read, s.written,
         count(*) OVER () AS all_rows
  FROM images p LEFT JOIN sums s
    ON s.nth = p.nth AND s.pid = p.pid AND s.machine = p.machine
    LEFT JOIN lives l ON l.pid = p.pid AND l.machine = p.machine
  ORDER BY p.start, p.host, p.pid)";

// Stretches off the CPU belong to the row in whose life they began. What the kernel counted as
// ready is no less than what they tell.
constexpr char kThreads[] = R"(
  WITH lives AS (SELECT *, coalesce("end", $1) AS stop, coalesce(host, '') AS machine FROM threads),
  off AS (
    SELECT coalesce(s.host, '') AS machine, s.pid, s.tid, l.start, sum(s.weight) AS off_cpu,
           sum(s.ready) AS ready
    FROM samples s JOIN lives l ON l.machine = coalesce(s.host, '') AND l.pid = s.pid
      AND l.tid = s.tid AND s.ts >= l.start AND s.ts < l.stop
    WHERE s.event = 'off-cpu' GROUP BY ALL),
  told AS (
    SELECT l.*, l.stop - l.start AS wall, l.ready IS NOT NULL AS sampled,
           least(coalesce(o.off_cpu, 0), l.stop - l.start) AS off_cpu,
           greatest(l.ready, coalesce(o.ready, 0)) AS was_ready
    FROM lives l LEFT JOIN off o USING (machine, pid, tid, start))
  SELECT host, pid, tid, name, start, wall, rank,
         CAST(CASE WHEN sampled THEN wall - off_cpu END AS BIGINT) AS running,
         CAST(CASE WHEN sampled THEN off_cpu - least(was_ready, off_cpu) END AS BIGINT) AS waiting,
         CAST(CASE WHEN sampled THEN least(was_ready, off_cpu) END AS BIGINT) AS ready,
         count(*) OVER () AS all_rows
  FROM told ORDER BY start, host, pid, tid)";

void drop_column(Table& table, std::string_view name) {
  const auto at = static_cast<std::ptrdiff_t>(column_of(table, name));
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

// One host is said once, above; several need a column.
bool one_value(const Table& table, std::string_view name) {
  const std::size_t at = column_of(table, name);
  for (const auto& row : table.rows) {
    if (text_of(row[at]) != text_of(table.rows[0][at])) return false;
  }
  return true;
}

Result<Table> life_table(Store& store, const std::string& sql, std::int64_t rows,
                         std::string_view what) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  FATHOM_ASSIGN(Table table, store.query(sql + limit_sql(rows), {base.begin + base.wall}));
  const std::int64_t all = take_row_count(table);
  if (one_value(table, "host")) drop_column(table, "host");
  set_measures(table, {{"start", kNanoseconds},
                       {"wall", kNanoseconds},
                       {"in_calls", kNanoseconds},
                       {"running", kNanoseconds},
                       {"waiting", kNanoseconds},
                       {"ready", kNanoseconds},
                       {"calls", kCount},
                       {"read", kBytes},
                       {"written", kBytes}});
  if (all == 0) table.note = fmt::format("no {} was covered", what);
  note_left_out(table, all, what);
  return table;
}

Result<Report> run_processes(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table, processes_table(store, rows_wanted(options, kRows)));
  const bool several = table.rows.size() > 1;
  Report report{.words = {}, .sections = {{std::move(table)}}};
  if (several) {
    FATHOM_ASSIGN(std::vector<Section> imbalance, imbalance_sections(store));
    for (Section& section : imbalance) report.sections.push_back(std::move(section));
  }
  return report;
}

Result<Report> run_threads(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table, threads_table(store, rows_wanted(options, kRows)));
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

Result<Table> processes_table(Store& store, std::int64_t rows) {
  static const std::string kText = [] {
    std::string text = layer_sql(kProcesses);
    constexpr std::string_view kWord = "@once";
    return text.replace(text.find(kWord), kWord.size(), once_sql("machine, pid, nth"));
  }();
  FATHOM_ASSIGN(Table table, life_table(store, kText, rows, "processes"));
  table.title = "Processes";
  return table;
}

Result<Table> threads_table(Store& store, std::int64_t rows) {
  FATHOM_ASSIGN(Table table, life_table(store, kThreads, rows, "threads"));
  const std::size_t running = column_of(table, "running");
  const bool sampled = std::ranges::any_of(
      table.rows, [&](const std::vector<Value>& row) { return !row[running].is_null(); });
  for (const char* state : {"running", "waiting", "ready"})
    if (!sampled) drop_column(table, state);
  table.title = "Threads";
  return table;
}

extern const ViewDef kProcessesView;
const ViewDef kProcessesView = {
    .name = "processes",
    .help = "processes: lifetime, exit status, calls and bytes",
    .by = {},
    .run = run_processes,
};

extern const ViewDef kThreadsView;
const ViewDef kThreadsView = {
    .name = "threads",
    .help = "threads: lifetime; running, waiting and ready where they were sampled",
    .by = {},
    .run = run_threads,
};

}  // namespace fathom::analysis
