// SPDX-License-Identifier: MIT
// What a program asked of the CUDA driver: its calls, the kernels it launched, the bytes it moved.
// A launch or an asynchronous copy is over for the host when it is queued; how long it took there
// is known where layer gpu was recorded.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kNothing =
    "no CUDA driver call was recorded; use fathom run --layers +cuda";

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

// The calls are layer cuda's alone; the work that they start is done by the layers of devices.
const std::string& devices() {
  static const std::string kList = layer_sql("@device");
  return kList;
}

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
  set_ranks(table, {"category", "max", "errors", "mean", "bytes"});
  return report_of(std::move(table));
}

// Whose times they are that a table shows.
std::string note_of_times(const Table& table, std::string_view runs) {
  const std::size_t column = column_of(table, runs);
  const bool ran =
      std::ranges::any_of(table.rows, [&](const auto& row) { return !row[column].is_null(); });
  return ran ? "total: time of the calls on the host; gpu_total: time on the GPU"
             : "times are those of the calls on the host; use fathom run --layers +gpu to record "
               "GPU times";
}

// --- kernels

constexpr std::string_view kEventsBy[] = {"device", "stream", "pid", "tid", "host"};

// Launches that were captured into a graph did not run then: the graph's launches count those. What
// ran on a GPU, and for how long, is layer gpu's; without it these columns are NULL.
std::string kernels_sql(const std::string& keys) {
  return fmt::format(
      R"(WITH launches AS (
           SELECT *, args['kernel'] AS kernel, args['capturing'] IS NOT NULL AS captured,
                  CAST(NULL AS BIGINT) AS ran
           FROM events WHERE layer = 'cuda' AND args['kernel'] IS NOT NULL
           UNION ALL BY NAME
           SELECT * EXCLUDE (dur), name AS kernel, dur AS ran
           FROM events WHERE layer IN {devices} AND category = 'kernel')
         SELECT {keys} kernel, count(*) FILTER (NOT captured) AS calls,
                count(*) FILTER (captured) AS captured, count(error) AS errors,
                CAST(sum(dur) AS BIGINT) AS total,
                CAST(sum(dur) // count(dur) AS BIGINT) AS mean, max(dur) AS max,
                nullif(count(ran), 0) AS runs, CAST(sum(ran) AS BIGINT) AS gpu_total,
                CAST(sum(ran) // nullif(count(ran), 0) AS BIGINT) AS gpu_mean, max(ran) AS gpu_max,
                mode(args['grid']) AS grid, mode(args['block']) AS block,
                max(TRY_CAST(args['shared_memory'] AS BIGINT)) AS shared_memory
         FROM launches GROUP BY {keys} kernel)",
      fmt::arg("keys", keys), fmt::arg("devices", devices()));
}

Result<Report> run_kernels(Store& store, const ViewOptions& options) {
  const std::string keys = keys_sql(options);
  FATHOM_ASSIGN(Table table,
                table_of(store, kernels_sql(keys),
                         "gpu_total DESC NULLS LAST, calls DESC, captured DESC, " + keys + "kernel",
                         options, "kernels"));
  table.title = "Kernels launched";
  set_measures(table, {{"captured", kCount},
                       {"mean", kNanoseconds},
                       {"max", kNanoseconds},
                       {"runs", kCount},
                       {"gpu_total", kNanoseconds},
                       {"gpu_mean", kNanoseconds},
                       {"gpu_max", kNanoseconds},
                       {"shared_memory", kBytes}});
  set_ranks(table, {"shared_memory", "captured", "max", "gpu_max", "block", "grid", "mean", "runs",
                    "errors", "total", "gpu_mean", "gpu_total"});
  if (!table.rows.empty() && table.note.empty()) table.note = note_of_times(table, "runs");
  return report_of(std::move(table));
}

// --- copies

std::string copies_sql(const std::string& keys) {
  return fmt::format(
      R"(WITH moves AS (
           SELECT *, CASE category WHEN 'set' THEN 'set' ELSE coalesce(args['direction'], '?') END
                  AS direction, args['capturing'] IS NOT NULL AS captured,
                  CAST(NULL AS BIGINT) AS ran, CAST(NULL AS BIGINT) AS moved
           FROM events WHERE layer = 'cuda' AND category IN ('copy', 'set')
           UNION ALL BY NAME
           SELECT * EXCLUDE (dur, bytes), dur AS ran, bytes AS moved,
                  CASE WHEN category IN ('set', 'gpu_memset') THEN 'set'
                       WHEN contains(name, 'PtoP') THEN 'peer'
                       ELSE coalesce(nullif(regexp_extract(name, 'HtoD|DtoH|DtoD|HtoH|peer'), ''),
                                     '?') END AS direction
           FROM events
           WHERE layer IN {devices} AND category IN ('copy', 'set', 'gpu_memcpy', 'gpu_memset'))
         SELECT {keys} direction, count(*) FILTER (NOT captured) AS calls,
                count(*) FILTER (captured) AS captured, count(error) AS errors,
                CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes,
                CAST(coalesce(sum(bytes), 0) // nullif(count(*) FILTER (bytes > 0), 0) AS BIGINT)
                  AS bytes_each,
                CAST(sum(dur) AS BIGINT) AS total, nullif(count(ran), 0) AS runs,
                CAST(sum(moved) AS BIGINT) AS gpu_bytes, CAST(sum(ran) AS BIGINT) AS gpu_total,
                CAST(1e9 * sum(moved) / nullif(sum(ran), 0) AS BIGINT) AS bytes_a_second
         FROM moves GROUP BY {keys} direction)",
      fmt::arg("keys", keys), fmt::arg("devices", devices()));
}

Result<Report> run_copies(Store& store, const ViewOptions& options) {
  const std::string keys = keys_sql(options);
  FATHOM_ASSIGN(Table table,
                table_of(store, copies_sql(keys),
                         "bytes DESC, gpu_bytes DESC, calls DESC, " + keys + "direction", options,
                         "directions"));
  table.title = "Bytes moved and set by the CUDA driver";
  set_measures(table, {{"captured", kCount},
                       {"bytes", kBytes},
                       {"bytes_each", kBytes},
                       {"runs", kCount},
                       {"gpu_bytes", kBytes},
                       {"gpu_total", kNanoseconds},
                       {"bytes_a_second", kBytes}});
  set_ranks(table, {"captured", "errors", "runs", "bytes_each", "gpu_bytes", "total",
                    "bytes_a_second", "gpu_total"});
  if (!table.rows.empty() && table.note.empty()) table.note = note_of_times(table, "runs");
  return report_of(std::move(table));
}

}  // namespace

extern const ViewDef kCudaView;
const ViewDef kCudaView = {
    .name = "cuda",
    .help = "CUDA driver calls: time, errors, bytes",
    .by = kCallsBy,
    .run = run_calls,
    .sql = [] { return calls_sql(""); },
};

extern const ViewDef kKernelsView;
const ViewDef kKernelsView = {
    .name = "kernels",
    .help = "CUDA kernels: launches, sizes, time to launch and to run",
    .by = kEventsBy,
    .run = run_kernels,
    .sql = [] { return kernels_sql(""); },
    .of_events = true,
};

extern const ViewDef kCopiesView;
const ViewDef kCopiesView = {
    .name = "copies",
    .help = "bytes copied to, from and on GPUs, by direction",
    .by = kEventsBy,
    .run = run_copies,
    .sql = [] { return copies_sql(""); },
    .of_events = true,
};

}  // namespace fathom::analysis
