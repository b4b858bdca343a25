// SPDX-License-Identifier: MIT
// Ranks, or processes where there are none: who did how much, and who lags behind.
#include <fmt/format.h>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 50;

// A rank may consist of several processes. Without any rank in the recording a process stands for
// one. `behind`: how much longer it was in recorded calls than the one in the middle.
std::string sql() {
  static const std::string kText = layer_sql(R"(
    WITH lives AS (
      SELECT host, pid, any_value(rank) AS rank, min(start) AS start,
             max(coalesce("end", totals."begin" + wall)) AS stop
      FROM processes, totals GROUP BY host, pid),
    sums AS (
      SELECT host, pid, @in_calls AS in_calls,
             sum(self) FILTER (layer IN @io) AS io,
             sum(self) FILTER (layer IN @code) AS app, sum(calls) AS calls,
             sum(bytes) FILTER (category = 'read') AS read,
             sum(bytes) FILTER (category = 'write') AS written
      FROM summary GROUP BY host, pid),
    ranked AS (SELECT count(rank) > 0 AS yes FROM lives),
    grouped AS (
      SELECT rank, CASE WHEN count(*) = 1 THEN min(l.pid) END AS pid,
             CASE WHEN min(l.host) = max(l.host) THEN min(l.host) END AS host,
             count(*) AS processes, CAST(max(stop) - min(start) AS BIGINT) AS wall,
             CAST(coalesce(sum(in_calls), 0) AS BIGINT) AS in_calls,
             CAST(coalesce(sum(io), 0) AS BIGINT) AS io,
             CAST(coalesce(sum(app), 0) AS BIGINT) AS app,
             CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls,
             CAST(coalesce(sum(read), 0) AS BIGINT) AS read,
             CAST(coalesce(sum(written), 0) AS BIGINT) AS written
      FROM lives l LEFT JOIN sums s ON s.pid = l.pid AND s.host IS NOT DISTINCT FROM l.host, ranked
      WHERE rank IS NOT NULL OR NOT yes
      GROUP BY rank, CASE WHEN NOT yes THEN l.pid END, CASE WHEN NOT yes THEN l.host END)
    SELECT *, 100.0 * in_calls / nullif(median(in_calls) OVER (), 0) - 100 AS behind FROM grouped)");
  return kText;
}

struct Compared {
  std::string_view column;
  std::string_view what;
  Measure measure;
};

constexpr Compared kCompared[] = {
    {"wall", "life", kNanoseconds},      {"in_calls", "time in calls", kNanoseconds},
    {"io", "time in I/O", kNanoseconds}, {"app", "time in regions", kNanoseconds},
    {"read", "bytes read", kBytes},      {"written", "bytes written", kBytes}};

std::string compare_sql(const Compared& one) {
  return fmt::format(
      "SELECT '{what}', min({c}), CAST(median({c}) AS BIGINT), max({c}), "
      "max({c}) / nullif(avg({c}), 0), first(rank ORDER BY {c} DESC, rank, pid), "
      "first(pid ORDER BY {c} DESC, rank, pid) FROM ranks "
      "HAVING max({c}) > 0",
      fmt::arg("what", one.what), fmt::arg("c", one.column));
}

}  // namespace

Result<std::vector<Section>> imbalance_sections(Store& store) {
  std::vector<Section> sections;
  for (const Measure measure : {kNanoseconds, kBytes}) {
    Table table;
    table.title = measure == kBytes ? "Imbalance of bytes" : "Imbalance of time";
    table.columns = {{"of"},
                     {"least", measure},
                     {"median", measure},
                     {"most", measure},
                     {"most_to_mean"},
                     {"rank"},
                     {"pid"}};
    for (const Compared& one : kCompared) {
      if (one.measure != measure) continue;
      FATHOM_ASSIGN(const Table found, store.query(compare_sql(one)));
      table.rows.insert(table.rows.end(), found.rows.begin(), found.rows.end());
    }
    table.note = "most_to_mean: 1 means balanced; rank and pid: the one with the most";
    if (!table.rows.empty()) sections.push_back({std::move(table)});
  }
  return sections;
}

namespace {

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table, store.query("SELECT *, count(*) OVER () AS all_rows FROM ranks "
                                         "ORDER BY in_calls DESC, rank, host, pid" +
                                         limit_sql(rows_wanted(options, kRows))));
  const std::int64_t all = take_row_count(table);
  table.title = "Ranks by time in calls";
  set_measures(table, {{"wall", kNanoseconds},
                       {"in_calls", kNanoseconds},
                       {"io", kNanoseconds},
                       {"app", kNanoseconds},
                       {"calls", kCount},
                       {"read", kBytes},
                       {"written", kBytes},
                       {"behind", kPercent}});
  Report report;
  if (all > 0 && table.rows[0][column_of(table, "rank")].is_null())
    report.words.emplace_back("No process has a rank: processes are compared instead.");
  if (all == 0) table.note = "no process was covered";
  note_left_out(table, all, "ranks");
  report.sections.push_back({std::move(table)});
  if (all > 1) {
    FATHOM_ASSIGN(std::vector<Section> imbalance, imbalance_sections(store));
    for (Section& section : imbalance) report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace

extern const ViewDef kRanksView;
const ViewDef kRanksView = {
    .name = "ranks",
    .help = "ranks (or processes) compared: imbalance and stragglers",
    .by = {},
    .run = run,
    .sql = sql,
};

}  // namespace fathom::analysis
