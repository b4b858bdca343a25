// SPDX-License-Identifier: MIT
// Where the time went: sums of the summary by function, or by whatever else it knows.
#include "analysis/views/functions.h"

#include <fmt/format.h>

#include "analysis/histogram.h"
#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/layer_notes.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;

// NULL is a group too, hence IS NOT DISTINCT FROM.
std::string same_group(const std::vector<std::string>& by) {
  std::string text;
  for (const std::string& name : by) {
    if (!text.empty()) text += " AND ";
    text += fmt::format("s.\"{0}\" IS NOT DISTINCT FROM t.\"{0}\"", name);
  }
  return text;
}

// Histograms are summed bucket by bucket, and only those of the rows that are shown.
std::string functions_sql(const std::vector<std::string>& by, std::int64_t rows) {
  static const std::string kOfThreads = layer_sql("@in_calls");
  static const std::string kOutermost = layer_sql("@outermost");
  return fmt::format(
      R"(WITH grouped AS (
           SELECT {keys}, sum(calls) AS calls, sum(errors) AS errors, {outermost} AS self,
                  sum(dur) AS total, min(dur_min) AS dur_min, max(dur_max) AS dur_max,
                  sum(bytes) FILTER (calls > 0) AS bytes,  -- what a call copied, once
                  {of_threads} AS of_threads
           FROM summary GROUP BY {keys}),
         t AS (
           SELECT *, row_number() OVER (ORDER BY self DESC, calls DESC, {keys}) AS r,
                  count(*) OVER () AS all_rows
           FROM grouped ORDER BY r {limit}),
         buckets AS (
           SELECT r, b - 1 AS b, CAST(sum(n) AS BIGINT) AS n FROM (
             SELECT t.r, unnest(s.hist) AS n, generate_subscripts(s.hist, 1) AS b
             FROM summary s JOIN t ON {same})
           GROUP BY r, b),
         hists AS (SELECT r, list(b ORDER BY b) AS bs, list(n ORDER BY b) AS ns FROM buckets GROUP BY r)
         SELECT {t_keys}, CAST(self AS BIGINT) AS self, CAST(total AS BIGINT) AS total,
                CAST(calls AS BIGINT) AS calls, CAST(errors AS BIGINT) AS errors, dur_min, dur_max,
                CAST(bytes AS BIGINT) AS bytes,
                CAST(of_threads AS BIGINT) AS of_threads, all_rows, bs, ns
         FROM t LEFT JOIN hists USING (r) ORDER BY r)",
      fmt::arg("keys", columns_sql(by)), fmt::arg("t_keys", columns_sql(by, "t.")),
      fmt::arg("same", same_group(by)), fmt::arg("of_threads", kOfThreads),
      fmt::arg("outermost", kOutermost), fmt::arg("limit", limit_sql(rows)));
}

// Percentiles as Histogram::quantile finds them.
std::string sql() {
  return R"(
    WITH sums AS (
      SELECT name, layer, CAST(sum(self) AS BIGINT) AS self, CAST(sum(dur) AS BIGINT) AS total,
             CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors,
             min(dur_min) AS least, max(dur_max) AS most,
             CAST(sum(bytes) FILTER (calls > 0) AS BIGINT) AS bytes
      FROM summary GROUP BY name, layer),
    buckets AS (
      SELECT name, layer, b - 1 AS b, sum(n) AS n FROM (
        SELECT name, layer, unnest(hist) AS n, generate_subscripts(hist, 1) AS b FROM summary)
      WHERE n > 0 GROUP BY name, layer, b),
    running AS (
      SELECT *, sum(n) OVER (PARTITION BY name, layer ORDER BY b) AS upto,
             sum(n) OVER (PARTITION BY name, layer) AS every FROM buckets),
    quantiles AS (
      SELECT name, layer,
             arg_min(pow(2, b + (0.50 * every - upto + n) / n), b) FILTER (upto >= 0.50 * every) AS p50,
             arg_min(pow(2, b + (0.99 * every - upto + n) / n), b) FILTER (upto >= 0.99 * every) AS p99
      FROM running GROUP BY name, layer)
    SELECT s.name, s.layer, if(p50 IS NULL AND total = 0, NULL, self) AS self,
           if(p50 IS NULL AND total = 0, NULL, total) AS total, calls, errors,
           CAST(trunc(least(greatest(p50, least), most)) AS BIGINT) AS p50,
           CAST(trunc(least(greatest(p99, least), most)) AS BIGINT) AS p99,
           if(p50 IS NULL AND total = 0, NULL, most) AS max, bytes
    FROM sums s LEFT JOIN quantiles q
      ON q.name IS NOT DISTINCT FROM s.name AND q.layer IS NOT DISTINCT FROM s.layer)";
}

std::vector<Value> function_row(const Table& found, const std::vector<Value>& row, std::size_t keys,
                                std::int64_t thread_time) {
  const auto number = [&](std::string_view name) { return int_of(row[column_of(found, name)]); };
  const Histogram histogram =
      Histogram::from(row[column_of(found, "bs")], row[column_of(found, "ns")]);
  const auto quantile = [&](double share) -> Value {
    const auto value = histogram.quantile(share, number("dur_min"), number("dur_max"));
    return value ? Value(*value) : Value();
  };
  std::vector<Value> cells(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys));
  // Calls that were counted when they began have no length at all.
  const bool timed = number("total") != 0 || histogram.quantile(1, 0, 0).has_value();
  cells.push_back(timed ? Value(number("self")) : Value());
  const bool is_of_threads = !row[column_of(found, "of_threads")].is_null();
  cells.push_back(is_of_threads ? percent_of(number("of_threads"), thread_time) : Value());
  cells.push_back(timed ? Value(number("total")) : Value());
  cells.emplace_back(number("calls"));
  cells.push_back(quantile(0.50));
  cells.push_back(quantile(0.99));
  cells.push_back(timed ? row[column_of(found, "dur_max")] : Value());
  cells.push_back(row[column_of(found, "bytes")]);
  return cells;
}

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::vector<std::string> by =
      options.by.empty() ? std::vector<std::string>{"name", "layer"} : options.by;
  FATHOM_ASSIGN(Table table, functions_table(store, by, rows_wanted(options, kRows)));
  table.title = "Functions by self time";
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

Result<Table> functions_table(Store& store, const std::vector<std::string>& by, std::int64_t rows) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  FATHOM_ASSIGN(const Table found, store.query(functions_sql(by, rows)));
  Table table;
  for (const std::string& name : by) table.columns.push_back({name});
  const std::vector<Column> rest = {
      {"self", kNanoseconds}, {"share", kPercent},   {"total", kNanoseconds}, {"calls", kCount},
      {"p50", kNanoseconds},  {"p99", kNanoseconds}, {"max", kNanoseconds},   {"bytes", kBytes}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const auto& row : found.rows) {
    table.rows.push_back(function_row(found, row, by.size(), base.thread_time));
  }
  if (found.rows.empty()) {
    FATHOM_TRY(note_no_calls(store, table, "view 'hot'"));
  } else {
    note_overlaps(table);
    note_left_out(table, int_of(found.rows[0][column_of(found, "all_rows")]), "functions");
  }
  return table;
}

extern const ViewDef kFunctionsView;
const ViewDef kFunctionsView = {
    .name = "functions",
    .help = "functions and calls by self time",
    .by = kGroups,
    .run = run,
    .sql = sql,
};

}  // namespace fathom::analysis
