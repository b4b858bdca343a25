// SPDX-License-Identifier: MIT
// Bytes a second, and threads at once, over time: two views of one kind, sixty stretches of the run
// each, which reports draw as a line and programs get as rows.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/stretches.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kBins = 60;
constexpr std::int64_t kRows = 40;
constexpr char kWhatMoved[] =
    "bytes moved by posix calls, or by stdio for files without posix calls";
constexpr std::string_view kBandwidthBy[] = {"layer", "pid", "host", "file"};
constexpr std::string_view kConcurrencyBy[] = {"host"};

// A call's bytes count in the stretch of time in which it began.
std::string bandwidth_sql(const std::string& keys) {
  return fmt::format(
      R"(WITH stretches AS (
           SELECT "begin", greatest(wall, 1) AS wall, CAST({bins} AS BIGINT) AS bins FROM totals)
         SELECT {keys} b AS bin, bins, "begin" + b * wall // bins AS ts, wall // bins AS width,
                direction, CAST(sum(bytes) AS BIGINT) AS bytes, count(*) AS calls,
                sum(bytes) * 1e9 * bins / wall AS rate
         FROM (SELECT {keys} category AS direction, bytes, stretches.*,
                      greatest(least((ts - "begin") * bins // wall, bins - 1), 0) AS b
               FROM moved, stretches WHERE category IN ('read', 'write'))
         GROUP BY {keys} b, "begin", wall, bins, direction)",
      fmt::arg("bins", kBins), fmt::arg("keys", keys));
}

// Threads in calls of the I/O layers, in regions and functions of the program and not in a call
// inside, and in any call: on average over a stretch of time.
std::string concurrency_sql(const std::string& keys) {
  static const std::string kIsIo = layer_sql("layer IN @io");
  static const std::string kIsCode = layer_sql("layer IN @code");
  const auto threads = [](std::string_view where) {
    return fmt::format("round(coalesce(sum(busy) FILTER ({}), 0) * bins / wall, 6)", where);
  };
  return fmt::format(
      R"(SELECT {keys} b AS bin, bins, "begin" + b * wall // bins AS ts, wall // bins AS width,
                {io} AS io, {app} AS app, {any} AS "all", CAST(sum(calls) AS BIGINT) AS calls
         FROM ({cut}) GROUP BY {keys} b, "begin", wall, bins)",
      fmt::arg("keys", keys), fmt::arg("io", threads(kIsIo)), fmt::arg("app", threads(kIsCode)),
      fmt::arg("any", threads("true")), fmt::arg("cut", stretches_sql(keys, kBins)));
}

std::string bandwidth_view() { return bandwidth_sql(""); }
std::string concurrency_view() { return concurrency_sql(""); }

// The last three columns, places, values and their number, become one list.
void make_lines(Table& table) {
  for (auto& row : table.rows) {
    const std::size_t at = row.size() - 3;
    row[at] = dense(row[at], row[at + 1], int_of(row[at + 2]), Value(0.0));
    row.resize(at + 1);
  }
  table.columns.resize(table.columns.size() - 2);
}

std::string stretch_text(const TimeBase& base, const Table& table) {
  const auto* line = table.rows.empty() ? nullptr : std::get_if<List>(&table.rows[0].back().data);
  const double bins = line == nullptr ? 1 : static_cast<double>(line->size());
  return human_ns(static_cast<double>(base.wall) / bins);
}

Result<Report> run_bandwidth(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  const std::string keys = options.by.empty() ? "" : columns_sql(options.by) + ", ";
  const double seconds = std::max(static_cast<double>(base.wall), 1.0) / 1e9;
  FATHOM_ASSIGN(
      Table table,
      store.query(fmt::format(
          R"(SELECT {keys} direction, CAST(sum(bytes) AS BIGINT) AS bytes, sum(bytes) / {seconds} AS mean,
                    max(rate) AS peak, list(bin ORDER BY bin) AS over_time, list(rate ORDER BY bin),
                    any_value(bins), count(*) OVER () AS all_rows
             FROM ({all}) GROUP BY {keys} direction ORDER BY bytes DESC, {keys} direction {limit})",
          fmt::arg("keys", keys), fmt::arg("seconds", seconds),
          fmt::arg("all", bandwidth_sql(keys)),
          fmt::arg("limit", limit_sql(rows_wanted(options, kRows))))));
  const std::int64_t all = take_row_count(table);
  make_lines(table);
  table.title = "Bandwidth";
  set_measures(table, {{"bytes", kBytes}, {"mean", kBytes}, {"peak", kBytes}});
  table.note = all == 0 ? "no bytes were read or written"
                        : "mean, peak and chart: bytes per second, averaged over " +
                              stretch_text(base, table) + "; " + kWhatMoved;
  note_left_out(table, all, "lines");
  return Report{.words = {}, .sections = {{std::move(table), Shape::kSeries}}};
}

Result<Report> run_concurrency(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  const std::string keys = options.by.empty() ? "" : columns_sql(options.by) + ", ";
  FATHOM_ASSIGN(Table table, store.query(fmt::format(
                                 R"(WITH stretches AS MATERIALIZED ({all}),
             lines AS (
               SELECT {keys} 0 AS place, 'in I/O' AS threads, io AS n, bin, bins FROM stretches
               UNION ALL SELECT {keys} 1, 'in regions', app, bin, bins FROM stretches
               UNION ALL SELECT {keys} 2, 'in any call', "all", bin, bins FROM stretches)
             SELECT {keys} threads, round(sum(n) / any_value(bins), 6) AS mean, max(n) AS peak,
                    list(bin ORDER BY bin) AS over_time, list(n ORDER BY bin), any_value(bins)
             FROM lines GROUP BY {keys} place, threads ORDER BY {keys} place)",
                                 fmt::arg("keys", keys), fmt::arg("all", concurrency_sql(keys)))));
  make_lines(table);
  table.title = "Concurrency";
  table.note = table.rows.empty() ? std::string(kNoCalls)
                                  : "threads at once, averaged over " + stretch_text(base, table);
  return Report{.words = {}, .sections = {{std::move(table), Shape::kSeries}}};
}

}  // namespace

extern const ViewDef kBandwidthView;
const ViewDef kBandwidthView = {
    .name = "bandwidth",
    .help = "read and write bandwidth over time",
    .by = kBandwidthBy,
    .run = run_bandwidth,
    .sql = bandwidth_view,
    .of_events = true,
};

extern const ViewDef kConcurrencyView;
const ViewDef kConcurrencyView = {
    .name = "concurrency",
    .help = "number of threads in I/O, in regions and in any call, over time",
    .by = kConcurrencyBy,
    .run = run_concurrency,
    .sql = concurrency_view,
};

}  // namespace fathom::analysis
