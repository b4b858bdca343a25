// SPDX-License-Identifier: MIT
// Views that rules start from, so that each rule need not decide anew what counts as a file or as
// thread time.
#include "analysis/insights/rule_views.h"

#include <fmt/format.h>

#include <string>

#include "analysis/layer_sql.h"

namespace fathom::analysis {
namespace {

// Pipes, sockets, terminals and what the kernel makes up are no files that advice is about. Of
// random jumps half go forward: each jump back takes one of these with it. What a copy wrote has no
// calls of its own in the sums; for its file each was a write.
constexpr char kIo[] = R"(
  CREATE OR REPLACE VIEW io AS
  SELECT * REPLACE (CAST(CASE calls WHEN 0 THEN coalesce(list_sum(sizes), 0) ELSE calls END
                         AS BIGINT) AS calls), category AS direction, CAST(list_sum(sizes[1:16]) AS BIGINT) AS small,
         positioned - consecutive - forward AS backward, backward + least(backward, forward) AS random,
         positioned - random AS ordered FROM summary
  WHERE layer IN @io AND category IN ('read', 'write') AND file LIKE '/%'
    AND NOT starts_with(file, '/proc/') AND NOT starts_with(file, '/sys/') AND NOT starts_with(file, '/dev/'))";

constexpr char kTotals[] = R"(
  WITH runs AS (SELECT CAST({wall} AS BIGINT) AS wall),
  calls AS (
    SELECT coalesce(@in_calls, 0) AS in_calls, coalesce(sum(calls), 0) AS events FROM summary),
  lives AS (
    SELECT count(*) FILTER (NOT goes_on) AS threads,
           coalesce(sum(greatest(coalesce("end", wall) - start, 0)), 0) AS life
    FROM runs, (
      SELECT t.*, EXISTS (
               FROM processes p WHERE p.image > 0 AND t.tid = t.pid AND p.pid = t.pid
                 AND p.start = t.start AND p.host IS NOT DISTINCT FROM t.host) AS goes_on
      FROM threads t WHERE t.start IS NOT NULL)),
  -- A process that execs goes on; one that gets the number of another is a new one.
  who AS (
    SELECT count(*) FILTER (image = 0) + count(DISTINCT (host, pid)) FILTER (image IS NULL) AS processes
    FROM processes)
  SELECT wall,
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
  static const std::string kText = layer_sql(kIo);
  return connection.execute(kText);
}

}  // namespace fathom::analysis
