// SPDX-License-Identifier: MIT
// How calls moved through files: whether each began where the last one ended, in steps, or
// anywhere. The guest counts that while it records (descriptors know the last offset), so this only
// sums and gives the mixture a name.
#include <fmt/format.h>

#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kBy[] = {"layer", "pid", "host", "program"};

// What view io counts (insights/rule_views.h), for each file and direction. Bytes beyond the file's
// farthest end were moved before: at least so many.
std::string patterns_sql(const std::string& keys) {
  return fmt::format(
      R"(SELECT {keys} file, direction, pattern, calls, bytes, positioned, consecutive, sequential,
                strided, random, small, misaligned, redundant
         FROM (SELECT {keys} file, direction, CAST(sum(calls) AS BIGINT) AS calls,
                      CAST(sum(bytes) AS BIGINT) AS bytes,
                      CAST(sum(positioned) AS BIGINT) AS positioned,
                      CAST(sum(consecutive) AS BIGINT) AS consecutive,
                      CAST(sum(ordered) AS BIGINT) AS sequential,
                      CAST(sum(strided) AS BIGINT) AS strided, CAST(sum(random) AS BIGINT) AS random,
                      CAST(sum(small) AS BIGINT) AS small,
                      CAST(sum(misaligned) AS BIGINT) AS misaligned,
                      CASE WHEN count(placed) FILTER (positioned > 0) > 0
                           THEN CAST(greatest(sum(placed) FILTER (positioned > 0) - max(extent), 0)
                                AS BIGINT) END AS redundant,
                      CASE WHEN coalesce(sum(positioned), 0) = 0 THEN 'unknown'
                           WHEN sum(strided) * 2 >= sum(positioned) THEN 'strided'
                           WHEN sum(consecutive) * 10 >= sum(positioned) * 9 THEN 'consecutive'
                           WHEN sum(ordered) * 10 >= sum(positioned) * 9 THEN 'sequential'
                           WHEN sum(random) * 4 >= sum(positioned) * 3 THEN 'random'
                           ELSE 'mixed' END AS pattern
               FROM io GROUP BY {keys} file, direction))",
      fmt::arg("keys", keys));
}

std::string sql() { return patterns_sql(""); }

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::string keys = options.by.empty() ? "" : columns_sql(options.by) + ", ";
  FATHOM_ASSIGN(
      Table table,
      store.query(fmt::format("SELECT *, count(*) OVER () AS all_rows FROM ({}) "
                              "ORDER BY calls DESC, bytes DESC, {} file, direction {}",
                              patterns_sql(keys), keys, limit_sql(rows_wanted(options, kRows)))));
  const std::int64_t all = take_row_count(table);
  table.title = "Access patterns";
  set_measures(table, {{"calls", kCount},
                       {"bytes", kBytes},
                       {"positioned", kCount},
                       {"consecutive", kCount},
                       {"sequential", kCount},
                       {"strided", kCount},
                       {"random", kCount},
                       {"small", kCount},
                       {"misaligned", kCount},
                       {"redundant", kBytes}});
  table.note = all == 0 ? "no read or write of a file was recorded"
                        : "patterns count positioned calls (those with a known offset); small: "
                          "under 64 KiB; redundant: at least this many bytes were moved again";
  note_left_out(table, all, "files");
  FATHOM_TRY(note_other_files(store, table));
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kPatternsView;
const ViewDef kPatternsView = {
    .name = "patterns",
    .help = "access patterns by file: consecutive, strided, random, small, redundant",
    .by = kBy,
    .run = run,
    .sql = sql,
    .of_positions = true,
};

}  // namespace fathom::analysis
