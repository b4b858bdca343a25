// SPDX-License-Identifier: MIT
// Loops of Python: where they stand, how often they turned, and what of their time is their own.
#include <fmt/format.h>

#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr std::string_view kBy[] = {"pid", "tid", "host"};

// The record of a loop is named `function.<for 12>`, and has how often it turned; turns that are
// events of their own bear the same name. They hold time that is the loop's.
std::string loops_sql(const std::string& keys) {
  return fmt::format(
      R"(WITH told AS (
           SELECT *, args['file'] AS source, TRY_CAST(args['line'] AS BIGINT) AS line_number,
                  TRY_CAST(args['iterations'] AS BIGINT) AS iterations
           FROM events WHERE layer = 'python' AND dur IS NOT NULL
             AND (args['iterations'] IS NOT NULL OR args['turn'] IS NOT NULL))
         SELECT {keys} file, line, kind, function, module, runs, turns, total, self,
                CAST(total // nullif(turns, 0) AS BIGINT) AS turn
         FROM (SELECT {keys} source AS file, line_number AS line,
                      regexp_extract(name, '<([a-z ]+) [0-9]+>$', 1) AS kind,
                      regexp_replace(name, '\.<[a-z ]+ [0-9]+>$', '') AS function,
                      category AS module,
                      count(iterations) FILTER (args['resumed'] IS NULL) AS runs,
                      CAST(coalesce(sum(iterations), 0) AS BIGINT) AS turns,
                      CAST(coalesce(sum(dur) FILTER (iterations IS NOT NULL), 0) AS BIGINT) AS total,
                      CAST(coalesce(sum(self), 0) AS BIGINT) AS self
               FROM told GROUP BY {keys} source, line_number, name, category))",
      fmt::arg("keys", keys));
}

std::string sql() { return loops_sql(""); }

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::string keys = options.by.empty() ? "" : columns_sql(options.by) + ", ";
  FATHOM_ASSIGN(Table table, store.query(fmt::format(
                                 "SELECT *, count(*) OVER () AS all_rows FROM ({}) "
                                 "ORDER BY total DESC, self DESC, {} file, line, function {}",
                                 loops_sql(keys), keys, limit_sql(rows_wanted(options, kRows)))));
  const std::int64_t all = take_row_count(table);
  table.title = "Loops of Python";
  set_measures(table, {{"runs", kCount},
                       {"turns", kCount},
                       {"total", kNanoseconds},
                       {"self", kNanoseconds},
                       {"turn", kNanoseconds}});
  table.note = all == 0 ? "no loop was recorded; use fathom run --layers +python --python-loops "
                          "MODULE"
                        : "runs: how often the loop was entered; turn: mean time of an iteration; "
                          "self: excludes nested recorded functions and loops";
  note_left_out(table, all, "loops");
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

}  // namespace

extern const ViewDef kLoopsView;
const ViewDef kLoopsView = {
    .name = "loops",
    .help = "Python loops: location, iterations, total and self time",
    .by = kBy,
    .run = run,
    .sql = sql,
    .of_events = true,
};

}  // namespace fathom::analysis
