// SPDX-License-Identifier: MIT
// What a program asked of the CUDA driver: its calls, the kernels it launched, the bytes it moved.
// Times are those of the calls on the host: a launch or an asynchronous copy is over when it is
// queued.
#include <fmt/format.h>

#include "analysis/view_tools.h"
#include "symbols/symbolizer.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kNothing =
    "no call of the CUDA driver was recorded; fathom run --layers +cuda records them";

std::string keys_sql(const ViewOptions& options) {
  return options.by.empty() ? "" : columns_sql(options.by) + ", ";
}

// The rows of a SELECT, the most of `order` first, as the one table of a report.
Result<Table> table_of(Store& store, const std::string& select, const std::string& order,
                       const ViewOptions& options, std::string_view what) {
  FATHOM_ASSIGN(Table table, store.query(fmt::format(
                                 "SELECT *, count(*) OVER () AS all_rows FROM ({}) ORDER BY {} {}",
                                 select, order, limit_sql(rows_wanted(options, kRows)))));
  const std::int64_t all = take_row_count(table);
  set_measures(table, {{"calls", kCount}, {"errors", kCount}, {"total", kNanoseconds}});
  if (all == 0) table.note = kNothing;
  note_left_out(table, all, what);
  return table;
}

Report report_of(Table table) { return Report{.words = {}, .sections = {{std::move(table)}}}; }

// --- calls

constexpr std::string_view kCallsBy[] = {"pid", "host"};

std::string calls_sql(const std::string& keys) {
  return fmt::format(
      R"(SELECT {keys} name, category, CAST(sum(calls) AS BIGINT) AS calls,
                CAST(sum(errors) AS BIGINT) AS errors, CAST(sum(dur) AS BIGINT) AS total,
                CAST(sum(dur) // nullif(sum(calls), 0) AS BIGINT) AS mean, max(dur_max) AS max,
                CAST(sum(bytes) AS BIGINT) AS bytes
         FROM summary WHERE layer = 'cuda' GROUP BY {keys} name, category)",
      fmt::arg("keys", keys));
}

Result<Report> run_calls(Store& store, const ViewOptions& options) {
  const std::string keys = keys_sql(options);
  FATHOM_ASSIGN(Table table,
                table_of(store, calls_sql(keys), "total DESC, calls DESC, " + keys + "name",
                         options, "calls"));
  table.title = "Calls of the CUDA driver";
  set_measures(table, {{"mean", kNanoseconds}, {"max", kNanoseconds}, {"bytes", kBytes}});
  return report_of(std::move(table));
}

// --- kernels

constexpr std::string_view kEventsBy[] = {"device", "stream", "pid", "tid", "host"};

// Launches that were captured into a graph did not run then: the graph's launches count those.
std::string kernels_sql(const std::string& keys) {
  return fmt::format(
      R"(WITH launches AS (
           SELECT *, args['kernel'] AS kernel, args['capturing'] IS NOT NULL AS captured
           FROM events WHERE layer = 'cuda' AND args['kernel'] IS NOT NULL)
         SELECT {keys} kernel, count(*) FILTER (NOT captured) AS calls,
                count(*) FILTER (captured) AS captured, count(error) AS errors,
                CAST(sum(dur) AS BIGINT) AS total,
                CAST(sum(dur) // count(*) AS BIGINT) AS mean, max(dur) AS max,
                mode(args['grid']) AS grid, mode(args['block']) AS block,
                max(TRY_CAST(args['shared_memory'] AS BIGINT)) AS shared_memory
         FROM launches GROUP BY {keys} kernel)",
      fmt::arg("keys", keys));
}

Result<Report> run_kernels(Store& store, const ViewOptions& options) {
  const std::string keys = keys_sql(options);
  FATHOM_ASSIGN(Table table,
                table_of(store, kernels_sql(keys), "calls DESC, captured DESC, " + keys + "kernel",
                         options, "kernels"));
  table.title = "Kernels launched";
  set_measures(table, {{"captured", kCount},
                       {"mean", kNanoseconds},
                       {"max", kNanoseconds},
                       {"shared_memory", kBytes}});
  const std::size_t kernel = column_of(table, "kernel");
  for (auto& row : table.rows) row[kernel] = symbols::demangle(text_of(row[kernel]));
  if (!table.rows.empty() && table.note.empty())
    table.note = "times are those of the launch on the host; grid and block: the most frequent";
  return report_of(std::move(table));
}

// --- copies

std::string copies_sql(const std::string& keys) {
  return fmt::format(
      R"(SELECT {keys} CASE category WHEN 'set' THEN 'set' ELSE coalesce(args['direction'], '?') END
                  AS direction,
                count(*) FILTER (args['capturing'] IS NULL) AS calls,
                count(*) FILTER (args['capturing'] IS NOT NULL) AS captured,
                count(error) AS errors, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes,
                CAST(coalesce(sum(bytes), 0) // nullif(count(*) FILTER (bytes > 0), 0) AS BIGINT)
                  AS bytes_each,
                CAST(sum(dur) AS BIGINT) AS total
         FROM events WHERE layer = 'cuda' AND category IN ('copy', 'set')
         GROUP BY {keys} direction)",
      fmt::arg("keys", keys));
}

Result<Report> run_copies(Store& store, const ViewOptions& options) {
  const std::string keys = keys_sql(options);
  FATHOM_ASSIGN(Table table,
                table_of(store, copies_sql(keys), "bytes DESC, calls DESC, " + keys + "direction",
                         options, "directions"));
  table.title = "Bytes moved and set by the CUDA driver";
  set_measures(table, {{"captured", kCount}, {"bytes", kBytes}, {"bytes_each", kBytes}});
  return report_of(std::move(table));
}

}  // namespace

extern const ViewDef kCudaView;
const ViewDef kCudaView = {
    .name = "cuda",
    .help = "calls of the CUDA driver: time, errors, bytes",
    .by = kCallsBy,
    .run = run_calls,
    .sql = [] { return calls_sql(""); },
};

extern const ViewDef kKernelsView;
const ViewDef kKernelsView = {
    .name = "kernels",
    .help = "kernels that were launched: how often, how large, what launching took",
    .by = kEventsBy,
    .run = run_kernels,
    .sql = [] { return kernels_sql(""); },
    .of_events = true,
};

extern const ViewDef kCopiesView;
const ViewDef kCopiesView = {
    .name = "copies",
    .help = "bytes to, from and on GPUs, by direction",
    .by = kEventsBy,
    .run = run_copies,
    .sql = [] { return copies_sql(""); },
    .of_events = true,
};

}  // namespace fathom::analysis
