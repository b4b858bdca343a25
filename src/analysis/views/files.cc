// SPDX-License-Identifier: MIT
// Which files the time went to; pipes, sockets and terminals have a table of their own, since they
// have a peer and no path. Both are made by one statement with another column for the place.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kBy[] = {"layer", "pid", "host", "program"};

// `place` is the column that says where the bytes went: a file, or what is none. A call that
// several layers saw is counted once, or once in each layer. Averages are those of calls that
// worked: a call that failed moved nothing, and what a copy put here is a call on the file that it
// read.
std::string files_sql(const std::string& keys, std::string_view place, bool by_layer,
                      std::int64_t rows) {
  static const std::string kTime = layer_sql("@outermost");
  static const std::string kRowsOf = layer_sql("@summary");
  const std::string_view once = by_layer ? "true" : "once_in_file";
  return fmt::format(
      R"(SELECT {keys}, CAST({time} AS BIGINT) AS time, NULL AS share,
                CAST(sum(calls) FILTER ({once}) AS BIGINT) AS calls,
                CAST(sum(errors) FILTER ({once}) AS BIGINT) AS errors,
                CAST(coalesce(sum(bytes) FILTER ({once} AND category = 'read'), 0) AS BIGINT) AS read,
                CAST(coalesce(sum(bytes) FILTER ({once} AND category = 'write'), 0) AS BIGINT)
                     AS written,
                CAST(sum(bytes) FILTER ({once} AND category = 'read' AND {moves}) //
                     sum(calls - errors) FILTER ({once} AND category = 'read' AND {moves})
                     AS BIGINT) AS per_read,
                CAST(sum(bytes) FILTER ({once} AND category = 'write' AND {moves}) //
                     sum(calls - errors) FILTER ({once} AND category = 'write' AND {moves})
                     AS BIGINT) AS per_write,
                count(*) OVER () AS all_rows
         FROM {summary} WHERE {place} IS NOT NULL AND {seen} GROUP BY {keys}
         ORDER BY time DESC, calls DESC, {keys} {limit})",
      fmt::arg("keys", keys), fmt::arg("place", place), fmt::arg("limit", limit_sql(rows)),
      fmt::arg("time", kTime), fmt::arg("summary", kRowsOf),
      fmt::arg("moves", "bytes IS NOT NULL AND calls > errors"),
      // The kernel has other words for the pipe that the library saw, too.
      fmt::arg("seen", place == "peer" ? once : "true"), fmt::arg("once", once));
}

// What the two tables have in common.
Result<Table> table_by(Store& store, std::vector<std::string> keys, const char* place,
                       std::int64_t rows, std::int64_t& all) {
  const bool by_layer = std::ranges::find(keys, "layer") != keys.end();
  keys.emplace_back(place);
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  FATHOM_ASSIGN(Table table, store.query(files_sql(columns_sql(keys), place, by_layer, rows)));
  const std::size_t time = column_of(table, "time");
  all = take_row_count(table);
  for (auto& row : table.rows) row[time + 1] = percent_of(int_of(row[time]), base.thread_time);
  set_measures(table, {{"time", kNanoseconds},
                       {"share", kPercent},
                       {"calls", kCount},
                       {"errors", kCount},
                       {"read", kBytes},
                       {"written", kBytes},
                       {"per_read", kBytes},
                       {"per_write", kBytes}});
  return table;
}

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::int64_t rows = rows_wanted(options, kRows);
  FATHOM_ASSIGN(Table files, files_table(store, options.by, rows));
  Report report{.words = {}, .sections = {{std::move(files)}}};
  std::int64_t all = 0;
  FATHOM_ASSIGN(Table peers, table_by(store, options.by, "peer", rows, all));
  if (all == 0) return report;
  peers.title = "Pipes, sockets and terminals by time";
  note_left_out(peers, all, "pipes, sockets and terminals");
  report.sections.push_back({std::move(peers)});
  return report;
}

}  // namespace

Result<Table> files_table(Store& store, const std::vector<std::string>& by, std::int64_t rows) {
  std::int64_t all = 0;
  FATHOM_ASSIGN(Table table, table_by(store, by, "file", rows, all));
  table.title = "Files by time";
  if (all == 0) table.note = "no call on a file was recorded";
  note_left_out(table, all, "files");
  FATHOM_TRY(note_other_files(store, table));
  return table;
}

extern const ViewDef kFilesView;
const ViewDef kFilesView = {
    .name = "files",
    .help = "files by the time spent on them, with bytes read and written",
    .by = kBy,
    .run = run,
};

}  // namespace fathom::analysis
