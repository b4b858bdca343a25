// SPDX-License-Identifier: MIT
// Files rolled up by directory.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kBy[] = {"layer", "pid", "host", "program"};

// Every directory above a file has the file's sums; `direct` counts the files that lie in it. A
// call that several layers saw is counted once, or once in each layer.
std::string directories_sql(const std::string& keys, bool by_layer) {
  static const std::string kTime = layer_sql("@outermost");
  static const std::string kRowsOf = layer_sql("@summary");
  return fmt::format(
      R"(SELECT {keys} CASE depth WHEN 0 THEN '/' ELSE array_to_string(parts[1:depth + 1], '/') END
                AS directory, depth, count(DISTINCT file) AS files,
                count(DISTINCT CASE WHEN depth = len(parts) - 2 THEN file END) AS direct,
                CAST({time} AS BIGINT) AS time, CAST(sum(calls) FILTER ({once}) AS BIGINT) AS calls,
                CAST(sum(errors) FILTER ({once}) AS BIGINT) AS errors,
                CAST(coalesce(sum(bytes) FILTER ({once} AND category = 'read'), 0) AS BIGINT) AS read,
                CAST(coalesce(sum(bytes) FILTER ({once} AND category = 'write'), 0) AS BIGINT)
                AS written
         FROM (SELECT *, unnest(range(len(parts) - 1)) AS depth
               FROM (SELECT *, string_split(file, '/') AS parts FROM {summary} WHERE file LIKE '/%'))
         GROUP BY {keys} directory, depth)",
      fmt::arg("keys", keys), fmt::arg("time", kTime), fmt::arg("summary", kRowsOf),
      fmt::arg("once", by_layer ? "true" : "once_in_file"));
}

std::string sql() { return directories_sql("", false); }

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::string keys = options.by.empty() ? "" : columns_sql(options.by) + ", ";
  const bool by_layer = std::ranges::find(options.by, "layer") != options.by.end();
  const std::string level =
      options.depth < 0 ? "direct > 0" : fmt::format("depth = {}", options.depth);
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  FATHOM_ASSIGN(
      Table table,
      store.query(fmt::format(
          "SELECT {0} directory, files, time, NULL AS share, calls, errors, read, written, "
          "count(*) OVER () AS all_rows FROM ({1}) WHERE {2} "
          "ORDER BY time DESC, calls DESC, {0} directory {3}",
          keys, directories_sql(keys, by_layer), level, limit_sql(rows_wanted(options, kRows)))));
  const std::int64_t all = take_row_count(table);
  table.title = "Directories by time";
  const std::size_t time = column_of(table, "time");
  for (auto& row : table.rows) row[time + 1] = percent_of(int_of(row[time]), base.thread_time);
  set_measures(table, {{"files", kCount},
                       {"time", kNanoseconds},
                       {"share", kPercent},
                       {"calls", kCount},
                       {"errors", kCount},
                       {"read", kBytes},
                       {"written", kBytes}});
  if (all == 0) table.note = "no call on a file was recorded";
  note_left_out(table, all, "directories");
  FATHOM_TRY(note_other_files(store, table));
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kDirectoriesView;
const ViewDef kDirectoriesView = {
    .name = "directories",
    .help = "directories, including everything below them; --depth 1 shows the top ones",
    .by = kBy,
    .run = run,
    .sql = sql,
    .has_depth = true,
};

}  // namespace fathom::analysis
