// SPDX-License-Identifier: MIT
// Sizes and latencies of calls in powers of two. The summary has a histogram for each of its rows,
// so any grouping is a sum of lists and reads no event; percentiles are as near as buckets can
// tell.
#include <fmt/format.h>

#include "analysis/histogram.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

std::string histogram_sql(const HistogramRequest& request) {
  const std::string keys = columns_sql(request.by);
  return fmt::format(
      R"(SELECT {keys}, b - 1 AS bucket, CAST(sum(n) AS BIGINT) AS calls FROM (
           SELECT {keys}, unnest({column}) AS n, generate_subscripts({column}, 1) AS b
           FROM summary WHERE {where})
         WHERE n > 0 GROUP BY {keys}, bucket ORDER BY {keys}, bucket)",
      fmt::arg("keys", keys), fmt::arg("column", request.column),
      fmt::arg("where", request.where.empty() ? "true" : request.where));
}

std::vector<std::string> grouping(const ViewOptions& options) {
  return options.by.empty() ? std::vector<std::string>{"layer", "category"} : options.by;
}

HistogramRequest sizes_of(std::vector<std::string> by) {
  return {.column = "sizes",
          .measure = Measure::kBytes,
          .by = std::move(by),
          .where = "bytes IS NOT NULL"};
}

HistogramRequest latencies_of(std::vector<std::string> by) {
  return {.column = "hist", .measure = Measure::kNanoseconds, .by = std::move(by), .where = ""};
}

// The histogram's SQL with lower bounds instead of buckets.
std::string view_sql(const HistogramRequest& request) {
  return "SELECT * EXCLUDE (bucket, calls), CASE bucket WHEN 0 THEN 0 ELSE 1::BIGINT << "
         "least(bucket, 62)::INT END AS \"from\", calls FROM (" +
         histogram_sql(request) + ")";
}

std::string sizes_sql() { return view_sql(sizes_of({"layer", "category"})); }
std::string latencies_sql() { return view_sql(latencies_of({"layer", "category"})); }

Result<Report> bars(Store& store, const HistogramRequest& request, std::string_view of) {
  FATHOM_ASSIGN(Table table, histogram_table(store, request));
  table.title = fmt::format("{} of calls", of);
  Report report{.words = {}, .sections = {{std::move(table), Shape::kBars}}};
  FATHOM_ASSIGN(Table percentiles, percentiles_table(store, request));
  percentiles.title = fmt::format("{}: percentiles", of);
  if (!percentiles.rows.empty()) report.sections.push_back({std::move(percentiles)});
  return report;
}

Result<Report> run_sizes(Store& store, const ViewOptions& options) {
  return bars(store, sizes_of(grouping(options)), "Sizes");
}

Result<Report> run_latencies(Store& store, const ViewOptions& options) {
  return bars(store, latencies_of(grouping(options)), "Latencies");
}

}  // namespace

Result<Table> histogram_table(Store& store, const HistogramRequest& request) {
  FATHOM_ASSIGN(Table table, store.query(histogram_sql(request)));
  const std::size_t bucket = column_of(table, "bucket");
  for (auto& row : table.rows) {
    row[bucket] = Histogram::lower_bound(static_cast<std::size_t>(int_of(row[bucket])));
  }
  table.columns[bucket].name = "from";
  set_measures(table, {{"from", request.measure}, {"calls", Measure::kCount}});
  if (table.rows.empty()) table.note = "no such call was recorded";
  return table;
}

Result<Table> percentiles_table(Store& store, const HistogramRequest& request) {
  const std::string keys = columns_sql(request.by);
  FATHOM_ASSIGN(const Table found,
                store.query(fmt::format("SELECT {0}, list(bucket ORDER BY bucket), "
                                        "list(calls ORDER BY bucket), CAST(sum(calls) AS BIGINT) "
                                        "FROM ({1}) GROUP BY {0} ORDER BY {0}",
                                        keys, histogram_sql(request))));
  Table table;
  for (const std::string& key : request.by) table.columns.push_back({key});
  table.columns.push_back({"calls", Measure::kCount});
  for (const char* name : {"p50", "p95", "p99"}) table.columns.push_back({name, request.measure});
  for (const auto& row : found.rows) {
    const std::size_t keys_end = request.by.size();
    const Histogram histogram = Histogram::from(row[keys_end], row[keys_end + 1]);
    std::vector<Value> cells(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys_end));
    cells.push_back(row[keys_end + 2]);
    for (const double share : {0.50, 0.95, 0.99})
      cells.emplace_back(histogram.quantile(share, 0, INT64_MAX).value_or(0));
    table.rows.push_back(std::move(cells));
  }
  table.note = "to the power of two";
  return table;
}

extern const ViewDef kSizesView;
const ViewDef kSizesView = {
    .name = "sizes",
    .help = "histogram of bytes per call, in powers of two",
    .by = kGroups,
    .run = run_sizes,
    .sql = sizes_sql,
};

extern const ViewDef kLatenciesView;
const ViewDef kLatenciesView = {
    .name = "latencies",
    .help = "histogram of call durations, in powers of two",
    .by = kGroups,
    .run = run_latencies,
    .sql = latencies_sql,
};

}  // namespace fathom::analysis
