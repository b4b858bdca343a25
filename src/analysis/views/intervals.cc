// SPDX-License-Identifier: MIT
// What was added up before it was recorded: calls that the kernel counted, by whatever they were
// counted by.
#include <fmt/format.h>

#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kIntervalGroups[] = {"layer", "name", "file", "pid",
                                                "tid",   "host", "ts"};

std::string intervals_sql(const std::vector<std::string>& by, std::int64_t rows) {
  // Of calls that were counted when they began nobody knows the time.
  return fmt::format(
      R"(SELECT {keys}, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(errors) AS BIGINT) AS errors,
                CAST(sum(dur) FILTER ({timed}) AS BIGINT) AS "time",
                CAST(sum(dur) // sum(calls) FILTER ({timed}) AS BIGINT) AS mean,
                max(dur_max) AS max, CAST(sum(bytes) AS BIGINT) AS bytes, count(*) OVER () AS all_rows
         FROM intervals GROUP BY {keys} ORDER BY {order}"time" DESC NULLS LAST, calls DESC, {keys} {limit})",
      fmt::arg("keys", columns_sql(by)), fmt::arg("timed", "dur > 0 OR dur_max IS NOT NULL"),
      fmt::arg("limit", limit_sql(rows)), fmt::arg("order", by.front() == "ts" ? "ts, " : ""));
}

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::vector<std::string> by =
      options.by.empty() ? std::vector<std::string>{"layer", "name", "file"} : options.by;
  FATHOM_ASSIGN(Table table, store.query(intervals_sql(by, rows_wanted(options, kRows))));
  table.title = "Calls that were added up, by time";
  set_measures(table, {{"ts", kNanoseconds},
                       {"calls", kCount},
                       {"errors", kCount},
                       {"time", kNanoseconds},
                       {"mean", kNanoseconds},
                       {"max", kNanoseconds},
                       {"bytes", kBytes}});
  const std::int64_t all = take_row_count(table);
  if (table.rows.empty()) {
    table.note = "no sums were recorded; kernel layers record them: fathom run --layers +syscall";
  } else {
    note_left_out(table, all, "rows");
  }
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kIntervalsView;
const ViewDef kIntervalsView = {
    .name = "intervals",
    .help = "calls summed in the kernel, by call and file, or over time (--by ts)",
    .by = kIntervalGroups,
    .run = run,
};

}  // namespace fathom::analysis
