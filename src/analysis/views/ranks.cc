// SPDX-License-Identifier: MIT
// Ranks, or processes where there are none: who did how much, and who lags behind. Time alone says
// nothing of that, since ranks that wait for a slow one are as long in their calls as it is:
// waiting is taken off first.
#include <fmt/format.h>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 50;

// A rank may consist of several processes. Without any rank in the recording a process stands for
// one. Who waits for another rank reads from a pipe or socket, which has no file, or writes to a
// full one; with the kernel's layer it may also poll or sleep on a lock. Where nobody is seen
// waiting, or more than one thread could, their lives tell who came last, if these differ, and else
// the CPU time and the calls who worked. A process waits for its children, too; of a rank they are
// a part. `behind`: how much longer it was busy than the one in the middle. It is slow where that
// is much of the run; on a machine without an idle processor it may only have waited for one,
// unless it used more CPU time, too, or hardly any.
constexpr char kRanks[] = R"(
  WITH lives AS (
    SELECT host, pid, any_value(rank) AS rank, min(start) AS start,
           max(coalesce("end", totals."begin" + wall)) AS stop
    FROM processes, totals GROUP BY host, pid),
  sums AS (
    SELECT host, pid, @in_calls AS in_calls,
           sum(self) FILTER (layer IN @io AND category IS DISTINCT FROM 'wait'
                             AND category IS DISTINCT FROM 'process') AS io,
           sum(self) FILTER (layer IN @code) AS app, sum(calls) FILTER (once) AS calls,
           sum(bytes) FILTER (once AND category = 'read') AS read,
           sum(bytes) FILTER (once AND category = 'write') AS written,
           greatest(coalesce(sum(self) FILTER (layer IN @io AND category IN ('read', 'write') AND file IS NULL), 0),
                    coalesce(sum(self) FILTER (layer = 'syscall' AND file IS NULL AND name IN (
                      'read', 'readv', 'write', 'writev', 'recvfrom', 'recvmsg', 'recvmmsg', 'poll', 'ppoll', 'select',
                      'pselect6', 'epoll_wait', 'epoll_pwait', 'futex')), 0)) AS waited,
           coalesce(sum(self) FILTER (layer IN @own), sum(self) FILTER (layer = 'syscall'), 0) AS own,
           coalesce(sum(self) FILTER (layer IN @io AND category = 'wait'), 0) AS for_children
    FROM @summary GROUP BY host, pid),
  used AS (
    SELECT host, pid, sum(most) * 1e9 AS cpu FROM (
      SELECT host, pid, max(value) AS most FROM counters
      WHERE layer = 'resource' AND name IN ('cpu_user', 'cpu_system') GROUP BY host, pid, name)
    GROUP BY host, pid),
  ranked AS (SELECT count(rank) > 0 AS yes FROM lives),
  grouped AS (
    SELECT rank, CASE WHEN count(*) = 1 THEN min(l.pid) END AS pid,
           CASE WHEN min(l.host) = max(l.host) THEN min(l.host) END AS host,
           count(*) AS processes, CAST(max(stop) - min(start) AS BIGINT) AS wall,
           CAST(sum(cpu) AS BIGINT) AS cpu,
           CAST(coalesce(sum(in_calls), 0) AS BIGINT) AS in_calls,
           CAST(coalesce(sum(waited + CASE WHEN yes THEN 0 ELSE for_children END), 0) AS BIGINT) AS waited,
           CAST(coalesce(sum(io), 0) AS BIGINT) AS io,
           CAST(coalesce(sum(app), 0) AS BIGINT) AS app,
           CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls,
           CAST(coalesce(sum(read), 0) AS BIGINT) AS read,
           CAST(coalesce(sum(written), 0) AS BIGINT) AS written,
           CAST(coalesce(sum(own - waited - for_children), 0) AS BIGINT) AS own
    FROM lives l
      LEFT JOIN sums s ON s.pid = l.pid AND s.host IS NOT DISTINCT FROM l.host
      LEFT JOIN used u ON u.pid = l.pid AND u.host IS NOT DISTINCT FROM l.host, ranked
    WHERE rank IS NOT NULL OR NOT yes
    GROUP BY rank, CASE WHEN NOT yes THEN l.pid END, CASE WHEN NOT yes THEN l.host END),
  busied AS (
    SELECT * EXCLUDE (own),
           CASE WHEN waited > wall OR max(waited) OVER () * 20 < max(wall) OVER ()
                THEN CASE WHEN rank IS NOT NULL AND max(wall) OVER () > 1.2 * quantile_disc(wall, 0.5) OVER ()
                          THEN wall ELSE greatest(least(greatest(own, coalesce(cpu, 0)), wall), 0) END
                ELSE wall - waited END AS busy FROM grouped),
  machine AS (
    SELECT coalesce(avg(value) > 90, false) AS is_full FROM counters
    WHERE layer = 'resource' AND name = 'cpu_busy' AND pid IS NULL),
  usual AS (  -- of two the lower one: the other's time tells how far it was ahead
    SELECT quantile_disc(busy, 0.5) AS usual, quantile_disc(cpu, 0.5) AS usual_cpu,
           max(busy) AS most, count(*) AS ranks FROM busied)
  SELECT busied.*, 100.0 * busy / nullif(usual, 0) - 100 AS behind,
         busy = most AND ranks > 1 AND busy > 1.2 * usual AND busy - usual > 0.05 * totals.wall
           AND (NOT is_full OR coalesce(cpu > 1.2 * usual_cpu OR cpu < 0.03 * busy, true)) AS slow
  FROM busied, machine, usual, totals)";

std::string sql() {
  static const std::string kText = layer_sql(kRanks);
  return kText;
}

struct Compared {
  std::string_view column;
  std::string_view what;
  Measure measure;
};

constexpr Compared kCompared[] = {
    {"wall", "life", kNanoseconds},      {"busy", "time busy", kNanoseconds},
    {"cpu", "CPU time", kNanoseconds},   {"in_calls", "time in calls", kNanoseconds},
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

// Who kept the others waiting, or that nobody did.
Status add_words(Store& store, Report& report) {
  FATHOM_ASSIGN(const Table found,
                store.query("SELECT count(*), bool_or(slow), arg_max(coalesce(rank, pid), busy), "
                            "max(busy), quantile_disc(busy, 0.5) FROM ranks"));
  const std::vector<Value>& row = found.rows.at(0);
  const auto* const slow = std::get_if<bool>(&row[1].data);
  if (int_of(row[0]) < 2) return {};
  const bool ranked = report.words.empty();  // else it was said that there are only processes
  const char* const what = ranked ? "rank" : "process";
  const bool of_two = int_of(row[0]) == 2;
  if (slow == nullptr || !*slow) {
    report.words.push_back(
        fmt::format("No {} was much slower than the other{}.", what, of_two ? "" : "s"));
    return {};
  }
  const std::int64_t most = int_of(row[3]);
  const std::int64_t median = int_of(row[4]);
  // Of two the median is the other one.
  report.words.push_back(fmt::format(
      "The slowest was {} {}, busy for {}; the {} is {}: the {} {} ahead of it.", what,
      int_of(row[2]), human_ns(static_cast<double>(most)), of_two ? "other's time" : "median",
      human_ns(static_cast<double>(median)), of_two ? "other was" : "others were",
      human_ns(static_cast<double>(most - median))));
  return {};
}

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table, store.query("SELECT * EXCLUDE (slow), count(*) OVER () AS all_rows "
                                         "FROM ranks "
                                         "ORDER BY busy DESC, in_calls DESC, rank, host, pid" +
                                         limit_sql(rows_wanted(options, kRows))));
  const std::int64_t all = take_row_count(table);
  table.title = "Ranks by time busy";
  set_measures(table, {{"wall", kNanoseconds},
                       {"cpu", kNanoseconds},
                       {"in_calls", kNanoseconds},
                       {"waited", kNanoseconds},
                       {"io", kNanoseconds},
                       {"app", kNanoseconds},
                       {"calls", kCount},
                       {"read", kBytes},
                       {"written", kBytes},
                       {"busy", kNanoseconds},
                       {"behind", kPercent}});
  Report report;
  if (all > 0 && table.rows[0][column_of(table, "rank")].is_null())
    report.words.emplace_back("No process has a rank: processes are compared instead.");
  FATHOM_TRY(add_words(store, report));
  table.note = all == 0 ? "no process was covered"
                        : "busy: life without waits for others (waited: in pipes and sockets); "
                          "behind: beyond the median";
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
    .for_rules = true,
};

}  // namespace fathom::analysis
