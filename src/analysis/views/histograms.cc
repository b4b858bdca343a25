// SPDX-License-Identifier: MIT
// Sizes and latencies of calls in powers of two.
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

Result<Report> run_sizes(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table, histogram_table(store, {.column = "sizes",
                                                     .measure = Measure::kBytes,
                                                     .by = grouping(options),
                                                     .where = "bytes IS NOT NULL"}));
  table.title = "Sizes of calls";
  return Report{.words = {}, .sections = {{std::move(table), Shape::kBars}}};
}

Result<Report> run_latencies(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Table table, histogram_table(store, {.column = "hist",
                                                     .measure = Measure::kNanoseconds,
                                                     .by = grouping(options),
                                                     .where = ""}));
  table.title = "Latencies of calls";
  return Report{.words = {}, .sections = {{std::move(table), Shape::kBars}}};
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

extern const ViewDef kSizesView;
const ViewDef kSizesView = {
    .name = "sizes",
    .help = "how many bytes calls moved, as histograms of powers of two",
    .by = kGroups,
    .run = run_sizes,
};

extern const ViewDef kLatenciesView;
const ViewDef kLatenciesView = {
    .name = "latencies",
    .help = "how long calls took, as histograms of powers of two",
    .by = kGroups,
    .run = run_latencies,
};

}  // namespace fathom::analysis
