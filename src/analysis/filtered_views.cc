// SPDX-License-Identifier: MIT
// Builds temporary views that hide the real ones, so that no report needs to know about filters.
// Events that reach over the edge of a window are cut, and their own time with them.
#include "analysis/filtered_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/contract.h"
#include "analysis/filtered_intervals.h"
#include "analysis/insights/rule_views.h"
#include "analysis/layer_sql.h"
#include "analysis/shown_rows.h"
#include "analysis/view_tools.h"
#include "analysis/views/sampled_tree.h"
#include "base/text.h"
#include "sql/quote.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kBins = 120;

// What is looked at, in ns since the start.
struct Window {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool cuts = false;  // the run is longer
};

Result<Window> window_of(Store& store, const RowFilter& filter) {
  FATHOM_ASSIGN(const std::int64_t wall, store.wall_ns());
  Window window{.begin = std::max<std::int64_t>(filter.from_ns.value_or(0), 0),
                .end = std::min(filter.to_ns.value_or(wall), wall),
                .cuts = filter.from_ns || filter.to_ns};
  window.end = std::max(window.end, window.begin);
  return window;
}

// Those that lie within the window as they are, and those that reach beyond it cut. What lies
// directly inside one of these is cut alike, and is not its own time. Only few reach beyond.
std::string cut_events_sql(const std::string& where, const Window& window) {
  return fmt::format(
      R"(CREATE OR REPLACE TEMP TABLE cut_events AS
         WITH cut AS (
           SELECT row_number() OVER () AS id, *, greatest(ts, {begin}) AS b,
                  least(ts + dur, {end}) AS e
           FROM memory.main.events {where} AND dur > 0
             AND ((ts < {begin} AND ts + dur > {begin}) OR (ts < {end} AND ts + dur > {end}))),
         inside AS (
           SELECT cut.id, sum(least(i.ts + i.dur, {end}) - greatest(i.ts, {begin})) AS time
           FROM cut JOIN memory.main.events i
             ON i.depth = cut.depth + 1 AND i.tid IS NOT DISTINCT FROM cut.tid
            AND i.pid IS NOT DISTINCT FROM cut.pid AND i.host IS NOT DISTINCT FROM cut.host
           WHERE i.ts >= cut.ts AND i.ts + i.dur <= cut.ts + cut.dur AND i.ts < {end}
             AND i.ts + i.dur > {begin} GROUP BY cut.id)
         SELECT cut.* EXCLUDE (id, b, e) REPLACE (
                  b AS ts, e - b AS dur,
                  CAST(greatest(e - b - coalesce(inside.time, 0), 0) AS BIGINT) AS self)
         FROM cut LEFT JOIN inside USING (id))",
      fmt::arg("begin", window.begin), fmt::arg("end", window.end), fmt::arg("where", where));
}

Status show_events(Store& store, RowFilter filter, const Window& window) {
  // An instant at the end is of the part that begins there; one at the run's end is of the last.
  const std::string before = filter.to_ns ? fmt::format(" AND ts < {}", *filter.to_ns) : "";
  filter.from_ns.reset();
  filter.to_ns.reset();
  FATHOM_ASSIGN(const FilteredView view, find_filtered_view("events"));
  const std::string where = where_sql(view, filter);
  std::string sql =
      "CREATE OR REPLACE TEMP VIEW events AS SELECT * FROM memory.main.events" + where;
  if (window.cuts) {
    FATHOM_TRY(store.query(cut_events_sql(where, window)));
    sql +=
        fmt::format(" AND ts >= {} AND ts + dur <= {}{} UNION ALL BY NAME SELECT * FROM cut_events",
                    window.begin, window.end, before);
  }
  FATHOM_TRY(store.query(sql));
  return {};
}

// How long threads were off the CPU between the window's begin and their first sample in it.
std::string away_sql(const Window& window) {
  return fmt::format(
      R"(CREATE OR REPLACE TEMP TABLE away_before AS
         SELECT f.host, f.pid, f.tid, f.ts,
                CAST(sum(least(s.ts + s.weight, f.ts) - greatest(s.ts, {0})) AS BIGINT) AS away
         FROM (SELECT host, pid, tid, min(ts) AS ts FROM memory.main.samples
               WHERE event = 'cpu-clock' AND ts >= {0} GROUP BY ALL) f
           JOIN memory.main.samples s ON s.tid = f.tid AND s.pid = f.pid
             AND s.host IS NOT DISTINCT FROM f.host AND s.event = 'off-cpu'
             AND s.ts < f.ts AND s.ts + s.weight > {0}
         GROUP BY ALL)",
      window.begin);
}

// Of a stretch off the CPU counts what lies in the window; a sample stands for time before it.
Status show_samples(Store& store, RowFilter filter, const Window& window) {
  FATHOM_ASSIGN(const FilteredView view, find_filtered_view("samples"));
  static constexpr char kView[] =
      "CREATE OR REPLACE TEMP VIEW samples AS SELECT * {} FROM memory.main.samples{}";
  if (!window.cuts) {
    FATHOM_TRY(store.query(fmt::format(kView, "", where_sql(view, filter))));
    return {};
  }
  filter.from_ns.reset();
  filter.to_ns.reset();
  FATHOM_TRY(store.query(away_sql(window)));
  const std::string cut = fmt::format(
      R"(REPLACE (
           CASE event WHEN 'off-cpu' THEN greatest(ts, {0}) ELSE ts END AS ts,
           CASE event WHEN 'off-cpu' THEN least(ts + weight, {1}) - greatest(ts, {0})
                      WHEN 'cpu-clock' THEN greatest(0, least(weight, ts - {0} - coalesce((
                        SELECT any_value(away) FROM away_before a WHERE a.ts = samples.ts
                          AND a.tid = samples.tid AND a.pid = samples.pid
                          AND a.host IS NOT DISTINCT FROM samples.host), 0)))
                      ELSE weight END AS weight,
           CASE WHEN ready IS NOT NULL
                THEN least(ready, least(ts + weight, {1}) - greatest(ts, {0})) END AS ready))",
      window.begin, window.end);
  const std::string inside = fmt::format(
      " AND ts < {1} AND CASE event WHEN 'off-cpu' THEN ts + weight > {0} ELSE ts >= {0} END",
      window.begin, std::max(window.end, window.begin + 1));
  FATHOM_TRY(store.query(fmt::format(kView, cut, where_sql(view, filter) + inside)));
  return {};
}

Status show_others(Store& store, const RowFilter& filter, const Window& window) {
  FATHOM_TRY(show_samples(store, filter, window));
  FATHOM_ASSIGN(const FilteredView counters, find_filtered_view("counters"));
  FATHOM_TRY(
      store.query("CREATE OR REPLACE TEMP VIEW counters AS SELECT * FROM memory.main.counters" +
                  where_sql(counters, filter)));
  for (const char* name : {"processes", "threads"}) {
    FATHOM_ASSIGN(const FilteredView view, find_filtered_view(name));
    std::string sql = "CREATE OR REPLACE TEMP VIEW " + std::string(name) + " AS SELECT *";
    if (window.cuts) {
      // Nobody knows when a thread was ready: it counts evenly over its life.
      static constexpr char kReady[] =
          ", CAST(ready * ((least(coalesce(\"end\", {1}), {1}) - greatest(start, {0})) / "
          "nullif(coalesce(\"end\", {1}) - start, 0)) AS BIGINT) AS ready";
      sql += fmt::format(
          " REPLACE (greatest(start, {0}) AS start, least(coalesce(\"end\", {1}), {1}) AS \"end\"",
          window.begin, window.end);
      if (std::string_view(name) == "threads") sql += fmt::format(kReady, window.begin, window.end);
      sql += ")";
    }
    sql += fmt::format(" FROM memory.main.{}", name) + where_sql(view, filter);
    if (window.cuts) {
      sql += fmt::format(" AND start < {} AND coalesce(\"end\" > {}, true)",
                         std::max(window.end, window.begin + 1), window.begin);
    }
    FATHOM_TRY(store.query(sql));
  }
  return {};
}

// A histogram of powers of two; bucket 0 also has 0.
std::string buckets_sql(const std::string& value, const std::string& where) {
  return fmt::format(
      "histogram(CASE WHEN {0} < 2 THEN 0 ELSE length(bin({0})) - 1 END) FILTER (WHERE {1})", value,
      where);
}

std::string list_sql(const std::string& map) {
  return fmt::format(
      "[CAST(coalesce({0}[i], 0) AS BIGINT) FOR i IN range(coalesce(list_max(map_keys({0})) + 1, "
      "0))]",
      map);
}

// What copies put into other files, as Decoder::Rows::sum_target adds it up.
std::string targets_sql() {
  static const std::string kCopies = layer_sql("@copies");
  return "SELECT host, layer, name, 'write' AS category, args['to'] AS file, "
         "args['to_peer'] AS peer, pid, program, 0 AS calls, 0 AS errors, 0 AS dur, 0 AS self, "
         "CAST(sum(bytes) AS BIGINT) AS bytes, min(ts) AS "
         "\"first\", max(ts + dur) AS \"last\", " +
         buckets_sql("dur", "false") + " AS hist, " + buckets_sql("bytes", "false") +
         " AS sizes FROM events WHERE bytes > 0 AND " + kCopies +
         " GROUP BY host, layer, name, args['to'], args['to_peer'], pid, program";
}

std::string summary_sql() {
  return "CREATE OR REPLACE TEMP TABLE own_summary AS SELECT * REPLACE (" + list_sql("hist") +
         " AS hist, " + list_sql("sizes") +
         " AS sizes) FROM (SELECT host, layer, name, category, file, pid, program, "
         "CAST(NULL AS BIGINT) AS process, args['peer'] AS peer, count(*) AS calls, "
         "count(error) AS errors, CAST(sum(dur) AS BIGINT) AS dur, CAST(sum(self) AS BIGINT) AS "
         "self, min(dur) AS dur_min, max(dur) AS dur_max, CAST(sum(bytes) AS BIGINT) AS bytes, "
         "min(ts) AS \"first\", max(ts + dur) AS \"last\", " +
         buckets_sql("dur", "true") + " AS hist, " +
         buckets_sql("bytes", "bytes IS NOT NULL AND error IS NULL") +
         " AS sizes FROM events GROUP BY host, layer, name, category, file, pid, program, "
         "args['peer'] UNION ALL BY NAME " +
         targets_sql() +
         ") UNION ALL BY NAME "
         "SELECT host, layer, name, category, file, peer, pid, calls, errors, dur, dur AS self, "
         "dur_min, dur_max, bytes, ts AS \"first\", "
         "ts + width AS \"last\", hist, CAST([] AS BIGINT[]) AS sizes FROM summed_intervals "
         "UNION ALL BY NAME SELECT * FROM summed_targets";
}

// As trace/rows/access_pattern.h has it. `opened` counts how often the thread opened its descriptor
// before: a position belongs to one of these times.
constexpr char kAccess[] = R"(
  CREATE OR REPLACE TEMP TABLE own_access AS
  WITH lives AS (
    SELECT *, "offset" + bytes AS stop, category = 'write' AS writes,
           count(*) FILTER (category = 'open' AND error IS NULL) OVER (
             PARTITION BY host, pid, tid, file, fd ORDER BY ts) AS opened
    FROM events WHERE ("offset" >= 0 AND bytes > 0) OR category = 'open'),
  moves AS (
    SELECT *, lag(stop) OVER own AS own, lag(stop) OVER whole AS last, max(stop) OVER before AS farthest,
           "offset" - coalesce(own, last) AS distance
    FROM lives WHERE "offset" >= 0 AND bytes > 0
    WINDOW own AS (PARTITION BY host, pid, tid, file, fd, writes, opened ORDER BY ts),
           whole AS (PARTITION BY host, layer, name, category, file, pid, program ORDER BY tid, ts),
           before AS (PARTITION BY host, pid, tid, file, fd, writes, opened ORDER BY ts
                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
  steps AS (
    SELECT *, CASE WHEN distance IS NULL OR last IS NULL OR "offset" = last
                     OR ("offset" = 0 AND (own IS NULL OR own = farthest)) THEN 0
                   ELSE distance END AS gap,
           gap <> 0 AND args['position'] IS NOT NULL AS unknown FROM moves)
  SELECT host, layer, name, category, file, pid, program, count(*) FILTER (NOT unknown) AS positioned,
         count(*) FILTER (gap = 0) AS consecutive, count(*) FILTER (gap > 0 AND NOT unknown) AS forward,
         count(*) FILTER (gap <> 0 AND gap = before AND NOT unknown) AS strided,
         count(*) FILTER ("offset" % 4096 <> 0 AND NOT unknown) AS misaligned, max(stop) AS extent
  FROM (SELECT *, lag(CASE WHEN unknown THEN 0 ELSE gap END) OVER (PARTITION BY host, pid, tid, file, fd, writes, opened ORDER BY ts) AS before
        FROM steps)
  GROUP BY ALL)";

// All columns of the contract; how calls moved through files is NULL where nobody asked.
std::string summary_view_sql(bool positions) {
  constexpr std::string_view kOfPositions[] = {"positioned", "consecutive", "forward",
                                               "strided",    "misaligned",  "extent"};
  std::vector<std::string> columns;
  for (const ViewSpec& view : recorded_views()) {
    if (view.name != "summary") continue;
    for (const ColumnSpec& column : view.columns) {
      const std::string name = sql::quote_identifier(column.name);
      const bool moved = std::ranges::find(kOfPositions, column.name) != std::end(kOfPositions);
      if (!moved) columns.push_back("s." + name);
      if (moved && positions) columns.push_back(fmt::format("coalesce(a.{0}, 0) AS {0}", name));
      if (moved && !positions) {
        columns.push_back(fmt::format("CAST(NULL AS {}) AS {}", column.type, name));
      }
    }
  }
  std::string sql = "CREATE OR REPLACE TEMP VIEW summary AS SELECT " + join(columns, ", ") +
                    " FROM own_summary s";
  if (!positions) return sql;
  sql += " LEFT JOIN own_access a ON s.peer IS NULL";
  for (const char* key : {"host", "layer", "name", "category", "file", "pid", "program"})
    sql += fmt::format(" AND a.{0} IS NOT DISTINCT FROM s.{0}", key);
  return sql;
}

// The own time of an event is spread evenly, since what was inside it may not be among these;
// calls and bytes count where it began. Sums are spread over their intervals, or
// over the time before that long calls must have taken.
std::string timeline_sql(const Window& window) {
  return fmt::format(
      R"(CREATE OR REPLACE TEMP TABLE timeline AS
         WITH placed AS (
           SELECT *, (ts - {begin}) // {width} AS first,
                  (greatest(ts + dur - 1, ts) - {begin}) // {width} AS last
           FROM (SELECT host, layer, ts, dur, self, coalesce(bytes, 0) AS bytes, 1 AS calls FROM events
                 UNION ALL
                 SELECT host, layer, b, greatest(e - b, 1), dur, coalesce(bytes, 0), calls
                 FROM (SELECT *, greatest({begin}, ts + width - greatest(width, dur)) AS b,
                              least(ts + width, {end}) AS e FROM summed_intervals))),
         parts AS (
           SELECT host, layer, first AS b, CAST(self AS DOUBLE) AS busy, calls, bytes
           FROM placed WHERE first = last
           UNION ALL
           SELECT host, layer, b,
                  self / dur * (least(ts + dur, {begin} + (b + 1) * {width}) -
                                greatest(ts, {begin} + b * {width})),
                  CASE WHEN b = first THEN calls ELSE 0 END, CASE WHEN b = first THEN bytes ELSE 0 END
           FROM (SELECT *, unnest(range(first, last + 1)) AS b FROM placed WHERE first < last))
         SELECT host, {begin} + b * {width} AS ts, CAST({width} AS BIGINT) AS width, layer,
                CAST(round(sum(busy)) AS BIGINT) AS busy, CAST(sum(calls) AS BIGINT) AS calls,
                CAST(sum(bytes) AS BIGINT) AS bytes
         FROM parts GROUP BY host, b, layer)",
      fmt::arg("begin", window.begin), fmt::arg("end", window.end),
      fmt::arg("width", (window.end - window.begin) / kBins + 1));
}

// When a layer was in use: how many of its calls are open after every begin and end.
constexpr char kCoverage[] = R"(
  CREATE OR REPLACE TEMP VIEW coverage AS
  SELECT host, layer, ts, dur, dur AS covered FROM (
    SELECT host, layer, ts, lead(ts) OVER later - ts AS dur, sum(opens) OVER later AS open
    FROM (SELECT host, layer, ts, 1 AS opens FROM events
          UNION ALL SELECT host, layer, ts + dur, -1 FROM events)
    WINDOW later AS (PARTITION BY host, layer ORDER BY ts, opens DESC ROWS UNBOUNDED PRECEDING))
  WHERE open > 0 AND dur > 0)";

Error uses_events() {
  return usage_error("the condition uses a view that is computed from events",
                     "use columns of events, or tables such as files");
}

// What is left of events cannot be chosen by a view of what is left.
Status check_events(Store& store) {
  if (const Result<Table> found = store.query("SELECT 1 FROM events LIMIT 0"); !found) {
    constexpr std::string_view kInItself = "infinite recursion";
    const bool in_itself = found.error().message.find(kInItself) != std::string::npos;
    return in_itself ? uses_events() : found.error();
  }
  return {};
}

}  // namespace

// Passes a condition that somebody else's SELECT may have, and nothing but a condition.
Status judge_condition(Store& store, const std::string& condition) {
  if (!condition.empty()) {
    FATHOM_TRY(store.query_untrusted("SELECT (" + condition + "\n) FROM events LIMIT 0"));
    FATHOM_TRY(store.query_untrusted("SELECT 1 FROM events WHERE (" + condition + "\n) LIMIT 0"));
    // What would close our bracket and open another cannot do so with two kinds of them.
    FATHOM_TRY(store.query_untrusted("SELECT [" + condition + "\n] FROM events LIMIT 0"));
  }
  // Of all events, and not to be made again of those that are left.
  return store.has_made() ? Status(uses_events()) : Status();
}

Result<std::vector<std::string>> show_rows(Store& store, const RowFilter& filter) {
  if (!filter.any()) return std::vector<std::string>();
  FATHOM_TRY(judge_condition(store, filter.condition));
  FATHOM_ASSIGN(const Window window, window_of(store, filter));
  FATHOM_TRY(store.query("DROP TABLE IF EXISTS temp.waits"));  // those of the whole (hold_waits)
  FATHOM_TRY(show_events(store, filter, window));
  FATHOM_TRY(check_events(store));
  FATHOM_TRY(show_others(store, filter, window));
  return show_intervals(store, filter);
}

Result<std::vector<std::string>> show_only(Store& store, const RowFilter& filter, bool positions) {
  if (!filter.any()) return std::vector<std::string>();
  FATHOM_ASSIGN(std::vector<std::string> left_out, show_rows(store, filter));
  FATHOM_ASSIGN(const Window window, window_of(store, filter));
  FATHOM_TRY(store.query(summary_sql()));
  if (positions) FATHOM_TRY(store.query(kAccess));
  FATHOM_TRY(store.query(summary_view_sql(positions)));
  FATHOM_TRY(store.query(timeline_sql(window)));
  FATHOM_TRY(store.query(kCoverage));
  FATHOM_TRY(store.query("CREATE OR REPLACE TEMP TABLE totals AS " +
                         totals_sql(window.end - window.begin, window.begin)));
  return left_out;
}

Result<Report> report_part(Store& store, const ViewDef& view, ViewOptions options,
                           const RowFilter& filter) {
  FATHOM_ASSIGN(const std::vector<std::string> left_out,
                show_only(store, filter, view.of_positions));
  return report_shown(store, view, std::move(options), filter, left_out);
}

namespace {

// Calls were recorded; the part has none of them.
void say_what_matches(Report& report) {
  for (std::string& word : report.words)
    if (word == "No call was recorded.") word = "No recorded call matches.";
  for (Section& section : report.sections) {
    std::string& note = section.table.note;
    if (note.starts_with(kNoCalls))
      note = "no recorded call matches" + note.substr(kNoCalls.size());
  }
}

}  // namespace

Result<Report> report_shown(Store& store, const ViewDef& view, ViewOptions options,
                            const RowFilter& filter, const std::vector<std::string>& left_out) {
  if (filter.any()) options.rules = {};
  // Samples have no calls inside each other: stacks are what a tree is made of.
  const bool sampled =
      view.name == "tree" && filter.layers == std::vector{std::string(trace::kSampledLayer)};
  FATHOM_ASSIGN(Report report,
                sampled ? sampled_tree(store, options) : make_report(view, store, options));
  report.of_part = filter.any();
  if (report.of_part) say_what_matches(report);
  report.words.insert(report.words.end(), left_out.begin(), left_out.end());
  return report;
}

}  // namespace fathom::analysis
