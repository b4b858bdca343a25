// SPDX-License-Identifier: MIT
#include "cli/filtered_views.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/contract.h"
#include "base/text.h"
#include "sql/quote.h"

namespace fathom::cli {
namespace {

constexpr int kBuckets = 64;
constexpr std::int64_t kBins = 120;

// A list of 64 counts: bucket i holds values of 2^i up to the next power, bucket 0 also 0.
std::string buckets_sql(const std::string& value, const std::string& where) {
  const std::string start = "count(*) FILTER (WHERE " + where + " AND " + value + "_bucket = ";
  std::vector<std::string> counts;
  for (int i = 0; i < kBuckets; ++i) counts.push_back(start + std::to_string(i) + ")");
  return "[" + join(counts, ", ") + "]";
}

// The bucket of a value: the place of its highest bit.
std::string bucket_sql(const std::string& value) {
  return "CASE WHEN " + value + " < 2 THEN 0 ELSE CAST(length(bin(" + value +
         ")) AS INTEGER) - 1 END";
}

// Events with the time that belongs to them alone: their duration without that of the events
// directly inside. The parent of an event is the last one a level higher that began before it.
constexpr char kSelfSql[] = R"(
  CREATE OR REPLACE TEMP TABLE own_events AS
  WITH numbered AS (
    SELECT row_number() OVER () AS id, coalesce(host, '') AS h, coalesce(pid, -1) AS p,
           coalesce(tid, -1) AS t, depth, ts, dur FROM events),
  inside AS (
    SELECT parent.id, CAST(sum(child.dur) AS BIGINT) AS dur
    FROM numbered child ASOF JOIN numbered parent
      ON child.h = parent.h AND child.p = parent.p AND child.t = parent.t
     AND child.depth - 1 = parent.depth AND child.ts >= parent.ts
    WHERE child.ts + child.dur <= parent.ts + parent.dur GROUP BY parent.id)
  SELECT e.*, greatest(e.dur - coalesce(i.dur, 0), 0) AS own_time
  FROM (SELECT row_number() OVER () AS id, * FROM events) e LEFT JOIN inside i USING (id))";

std::string summary_sql() {
  return "CREATE OR REPLACE TEMP TABLE own_summary AS "
         "WITH own AS (SELECT *, " +
         bucket_sql("dur") + " AS dur_bucket, " + bucket_sql("bytes") +
         " AS bytes_bucket FROM own_events) "
         "SELECT host, layer, name, category, file, pid, count(*) AS calls, "
         "count(error) AS errors, CAST(sum(dur) AS BIGINT) AS dur, CAST(sum(own_time) AS BIGINT) "
         "AS "
         "self, min(dur) AS dur_min, max(dur) AS dur_max, CAST(sum(bytes) AS BIGINT) AS bytes, "
         "min(ts) AS \"first\", max(ts + dur) AS \"last\", " +
         buckets_sql("dur", "true") + " AS hist, " + buckets_sql("bytes", "bytes IS NOT NULL") +
         " AS sizes FROM own GROUP BY host, layer, name, category, file, pid";
}

// All columns of the contract; those that cannot be told of a part are NULL.
std::string summary_view_sql() {
  constexpr std::string_view kTold[] = {"host",  "layer",  "name", "category", "file",    "pid",
                                        "calls", "errors", "dur",  "self",     "dur_min", "dur_max",
                                        "bytes", "first",  "last", "hist",     "sizes"};
  std::vector<std::string> columns;
  for (const analysis::ViewSpec& view : analysis::recorded_views()) {
    if (view.name != "summary") continue;
    for (const analysis::ColumnSpec& column : view.columns) {
      const bool told = std::ranges::find(kTold, column.name) != std::end(kTold);
      const std::string name = sql::quote_identifier(column.name);
      columns.push_back(told ? name : "CAST(NULL AS " + std::string(column.type) + ") AS " + name);
    }
  }
  return "CREATE OR REPLACE TEMP VIEW summary AS SELECT " + join(columns, ", ") +
         " FROM own_summary";
}

std::string timeline_sql(std::int64_t wall) {
  const std::string width = std::to_string(std::max<std::int64_t>(wall / kBins, 1));
  return "CREATE OR REPLACE TEMP TABLE timeline AS SELECT host, ts // " + width + " * " + width +
         " AS ts, CAST(" + width +
         " AS BIGINT) AS width, layer, CAST(sum(own_time) AS BIGINT) AS busy, count(*) AS calls, "
         "CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes FROM own_events GROUP BY ALL";
}

}  // namespace

Status show_only(analysis::Store& store, const RowFilter& filter) {
  if (!filter.any()) return {};
  for (const char* name : {"events", "counters", "intervals", "samples", "processes", "threads"}) {
    FATHOM_ASSIGN(const FilteredView view, find_filtered_view(name));
    FATHOM_TRY(store.query("CREATE OR REPLACE TEMP VIEW " + std::string(name) +
                           " AS SELECT * FROM memory.main." + name + where_sql(view, filter)));
  }
  FATHOM_ASSIGN(const std::int64_t wall, store.wall_ns());
  FATHOM_TRY(store.query(kSelfSql));
  FATHOM_TRY(store.query(summary_sql()));
  FATHOM_TRY(store.query(summary_view_sql()));
  FATHOM_TRY(store.query(timeline_sql(wall)));
  return {};
}

}  // namespace fathom::cli
