// SPDX-License-Identifier: MIT
// Views that rules start from, so that each rule need not decide anew what counts as a file or as
// thread time.
#include "analysis/insights/rule_views.h"

#include <fmt/format.h>

#include <string>

#include "analysis/layer_sql.h"

namespace fathom::analysis {
namespace {

// What the program works on, as against what it is made of: no pipes, sockets and terminals,
// nothing that the kernel makes up, no libraries and no modules that an interpreter loads.
constexpr char kDataCalls[] = R"(
  CREATE OR REPLACE VIEW data_calls AS
  SELECT * FROM summary WHERE layer IN @io AND file LIKE '/%' AND NOT regexp_matches(file,
    '^/(proc|sys|dev)/|^/((usr|usr/local|opt/[^/]+)/)?lib(32|64|x32|exec)?/|^/etc/ld[.]so|'
    '/(site-packages|dist-packages|node_modules|__pycache__|locale|zoneinfo)/|/lib/python[0-9.]+/|'
    '[.]so([.][0-9]+)*$|[.](py|pyc|pyo|pyd|pth|rb|pl|pm|lua|jar|class|mo)$'))";

// Of random jumps half go forward: each jump back takes one of these with it. What a copy wrote has
// no calls of its own in the sums; for its file each was a write. A typical call takes no longer
// than the bucket of the median: what a disk took now and then is no cost of a call. Where others
// took the CPUs, it is. Sums tell neither the bytes nor the time of small calls where there are
// large ones beside them: both come from the sizes' buckets and the typical call. Which part of a
// file was moved (`placed`) is known if each call that moved something has a position.
constexpr char kIo[] = R"(
  CREATE OR REPLACE VIEW io AS
  SELECT *, CASE WHEN positioned >= list_sum(sizes[2:]) THEN bytes END AS placed,
         CASE WHEN mixed THEN least(bytes, list_sum([coalesce(sizes[b], 0) * 1.5 * pow(2, b - 1) FOR b IN range(1, 17)]))
              ELSE bytes END AS small_bytes,
         CASE WHEN mixed THEN small * typical ELSE self * small / greatest(calls, 1) END AS small_time
  FROM (
  SELECT * REPLACE (CAST(CASE calls WHEN 0 THEN coalesce(list_sum(sizes), 0) ELSE calls END
                         AS BIGINT) AS calls), category AS direction, CAST(list_sum(sizes[1:16]) AS BIGINT) AS small,
         coalesce(list_sum(sizes) > small, false) AS mixed,
         positioned - consecutive - forward AS backward, backward + least(backward, forward) AS random,
         positioned - random AS ordered,
         least(self / greatest(calls, 1), CASE WHEN (SELECT crowded FROM machine) THEN NULL ELSE pow(2, 1 + len(
           [b FOR b IN range(1, len(hist) + 1) IF 2 * list_sum(hist[1:b]) < list_sum(hist)])) END) AS typical
  FROM data_calls
  WHERE category IN ('read', 'write')))";

// Short runs have two or three samples. Without any, nobody knows.
constexpr char kMachine[] = R"(
  CREATE OR REPLACE VIEW machine AS
  SELECT avg(value) AS busy, coalesce(avg(value) >= 90, false) AS crowded FROM counters
  WHERE layer = 'resource' AND name = 'cpu_busy')";

// The layer with most of the time tells for all: calls of stdio have those of posix inside. Several
// recordings may have covered the same time: of a span counts what lies behind those before it.
constexpr char kPace[] = R"(
  CREATE OR REPLACE VIEW pace AS
  WITH spans AS (
    SELECT layer, ts, dur, covered, max(ts + dur) OVER (
             PARTITION BY layer ORDER BY ts, dur ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM coverage WHERE layer IN @io AND dur > 0),
  walls AS (
    SELECT layer, sum(covered * (greatest(ts + dur - greatest(ts, coalesce(before, ts)), 0) / dur)) AS wall
    FROM spans GROUP BY layer),
  times AS (SELECT layer, sum(dur) AS dur FROM summary WHERE layer IN @io GROUP BY layer)
  SELECT greatest(coalesce(arg_max(t.dur / w.wall, t.dur), 1), 1) AS at_once
  FROM times t JOIN walls w USING (layer) WHERE w.wall > 0)";

constexpr char kTotals[] = R"(
  WITH runs AS (SELECT CAST({wall} AS BIGINT) AS wall),
  calls AS (
    SELECT coalesce(@in_calls, 0) AS in_calls, coalesce(sum(calls), 0) AS events FROM summary),
  lives AS (
    SELECT count(*) FILTER (NOT goes_on) AS threads,
           -- As trace::lifetime_of has it for the summary of a run, which asks no database.
           coalesce(sum(greatest(coalesce("end", {begin} + wall) - start, 0)), 0) AS life
    FROM runs, (
      -- Its rows meet where it became another program, or the process says so: where another of its
      -- threads did, its own one had ended by then.
      SELECT t.*, t.tid = t.pid AND (coalesce(t.start - t.before_end <= 1, false) OR EXISTS (
               FROM processes p WHERE p.image > 0 AND p.pid = t.pid AND p.host IS NOT DISTINCT FROM t.host
                 AND p.start <= t.start AND p.start > t.before_start)) AS goes_on
      FROM (SELECT *, lag("end") OVER images AS before_end, lag(start) OVER images AS before_start
            FROM threads WHERE start IS NOT NULL
            WINDOW images AS (PARTITION BY host, pid, tid ORDER BY start)) t)),
  -- A process that execs goes on; one that gets the number of another is a new one. Of a part of
  -- the run, its first program may be missing.
  who AS (
    SELECT count(*) FILTER (image = 0 OR (image > 0 AND before IS DISTINCT FROM image - 1)) +
             count(DISTINCT (host, pid)) FILTER (image IS NULL) AS processes
    FROM (SELECT host, pid, image, lag(image) OVER (
            PARTITION BY host, pid ORDER BY start, image) AS before FROM processes))
  SELECT wall, CAST(life AS BIGINT) AS life,
         CAST(greatest(CASE threads WHEN 0 THEN wall ELSE life END, in_calls) AS BIGINT) AS thread_time,
         CAST(in_calls AS BIGINT) AS in_calls, threads, processes, CAST(events AS BIGINT) AS events,
         CAST({begin} AS BIGINT) AS "begin"
  FROM runs, calls, lives, who)";

}  // namespace

std::string totals_sql(std::optional<std::int64_t> wall, std::int64_t begin) {
  const std::string known =
      wall ? std::to_string(*wall) : R"(greatest(coalesce((SELECT max("last") FROM summary), 0),
                         coalesce((SELECT max(ts) FROM counters), 0)))";
  static const std::string kText = layer_sql(kTotals);
  return fmt::format(fmt::runtime(kText), fmt::arg("wall", known), fmt::arg("begin", begin));
}

Status create_rule_views(sql::Connection& connection, std::optional<std::int64_t> wall) {
  FATHOM_TRY(connection.execute("CREATE OR REPLACE VIEW totals AS" + totals_sql(wall, 0)));
  static const std::string kTexts[] = {layer_sql(kDataCalls), kMachine, layer_sql(kIo),
                                       layer_sql(kPace)};
  for (const std::string& text : kTexts) FATHOM_TRY(connection.execute(text));
  return {};
}

}  // namespace fathom::analysis
