// SPDX-License-Identifier: MIT
#include "analysis/views/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::analysis {
namespace {

// While an event is open, the one around it is not what its thread does. The kind of the one around
// is the same for all events of a depth in most threads; only in the others it has to be looked
// for: the last that began a level higher. What a GPU does belongs to no thread.
constexpr char kTurns[] = R"(
  CREATE OR REPLACE VIEW turns AS
  WITH kinds AS (
    SELECT host, pid, CASE layer WHEN 'gpu' THEN NULL ELSE tid END AS tid,
           CASE layer WHEN 'gpu' THEN 0 ELSE coalesce(depth, 0) END AS depth,
           ts, ts + dur AS stop, self < dur AS outer_, {kind} AS kind
    FROM events WHERE dur > 0),
  around AS (
    SELECT host, pid, tid, depth + 1 AS depth, min(kind) AS kind, min(kind) = max(kind) AS sure
    FROM kinds WHERE outer_ GROUP BY ALL),
  known AS (
    SELECT k.*, a.kind AS outer_kind, coalesce(a.sure, true) AS sure
    FROM kinds k LEFT JOIN around a
      ON a.depth = k.depth AND a.tid = k.tid AND a.pid IS NOT DISTINCT FROM k.pid
     AND a.host IS NOT DISTINCT FROM k.host),
  nested AS (
    SELECT host, pid, tid, ts, stop, kind, outer_kind FROM known WHERE sure
    UNION ALL
    SELECT k.host, k.pid, k.tid, k.ts, k.stop, k.kind, p.kind
    FROM (SELECT * FROM known WHERE NOT sure) k
    ASOF LEFT JOIN (SELECT coalesce(host, '') AS h, coalesce(pid, -1) AS p, tid, depth, ts, kind
                    FROM kinds WHERE outer_) p
      ON p.h = coalesce(k.host, '') AND p.p = coalesce(k.pid, -1) AND p.tid = k.tid
     AND p.depth = k.depth - 1 AND p.ts <= k.ts),
  changes AS (
    SELECT host, pid, tid, ts, stop,
           (kind = 'io')::INT - coalesce(outer_kind = 'io', false)::INT AS io,
           (kind = 'region_io')::INT - coalesce(outer_kind = 'region_io', false)::INT AS region_io,
           (kind = 'compute')::INT - coalesce(outer_kind = 'compute', false)::INT AS compute
    FROM nested WHERE kind IS DISTINCT FROM outer_kind)
  SELECT host, pid, tid, ts, io, region_io, compute FROM changes
  UNION ALL
  SELECT host, pid, tid, stop, -io, -region_io, -compute FROM changes)";

}  // namespace

std::string kind_sql() {
  return R"(CASE WHEN layer IN ('posix', 'stdio') THEN
                CASE WHEN category IN ('process', 'wait') THEN 'other' ELSE 'io' END
              WHEN layer = 'gpu' THEN 'compute'
              WHEN layer NOT IN ('app', 'python') THEN 'other'
              WHEN category IS NOT NULL AND regexp_matches(category,
                '(^|[^a-z])(io|i/o|read|reader|write|writer|data|data_?loader|fetch|checkpoint|storage)([^a-z]|$)',
                'i') THEN 'region_io'
              ELSE 'compute' END)";
}

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> scopes = {{"run", {}},
                                            {"host", {"host"}},
                                            {"process", {"host", "pid"}},
                                            {"thread", {"host", "pid", "tid"}}};
  return scopes;
}

const Scope& scope_of(const std::vector<std::string>& by) {
  std::size_t finest = 0;
  for (std::size_t i = 1; i < scopes().size(); ++i) {
    if (std::ranges::find(by, scopes()[i].keys.back()) != by.end()) finest = i;
  }
  return scopes()[finest];
}

std::string scope_columns_sql(const Scope& scope) {
  std::string text = fmt::format("'{}' AS scope", scope.name);
  for (const std::string& key : scopes().back().keys) {
    const bool has = std::ranges::find(scope.keys, key) != scope.keys.end();
    const char* type = key == "host" ? "VARCHAR" : "INTEGER";
    text += has ? fmt::format(", {}", key) : fmt::format(", CAST(NULL AS {}) AS {}", type, key);
  }
  return text;
}

Status create_turns_view(sql::Connection& connection) {
  return connection.execute(fmt::format(kTurns, fmt::arg("kind", kind_sql())));
}

}  // namespace fathom::analysis
