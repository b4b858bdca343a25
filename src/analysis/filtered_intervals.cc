// SPDX-License-Identifier: MIT
// Intervals cannot be cut: nobody knows when in one a call was. Whole ones count, and the words say
// what was left out.
#include "analysis/filtered_intervals.h"

#include <fmt/format.h>

#include <cstdint>
#include <variant>

#include "base/plural.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

// Whether each row of a sum fits the condition or does not.
bool suits_sums(Store& store, const std::string& condition) {
  if (condition.empty()) return true;
  const std::string columns =
      "(SELECT host, pid, tid, layer, name, CAST(NULL AS VARCHAR) AS category, file, "
      "peer FROM intervals)";
  return store.query_untrusted("SELECT 1 FROM " + columns + " WHERE (" + condition + "\n) LIMIT 0")
      .has_value();
}

// Whole intervals, since nobody knows when in them a call was. The last one may reach beyond the
// run's end.
std::string inside_sql(const RowFilter& filter, std::int64_t wall) {
  std::string sql = "true";
  if (filter.from_ns) sql += fmt::format(" AND ts >= {}", *filter.from_ns);
  if (filter.to_ns && *filter.to_ns < wall)
    sql += fmt::format(" AND ts + width <= {}", *filter.to_ns);
  return sql;
}

// What touches the time and fits the other filters. Rows have no category; their sums do.
std::string part_sql(const FilteredView& view, const RowFilter& filter, std::int64_t wall,
                     bool suits) {
  RowFilter named = filter;
  named.from_ns.reset();
  named.to_ns.reset();
  std::string where = where_sql(view, named);
  if (filter.from_ns) where += fmt::format(" AND ts + width > {}", *filter.from_ns);
  if (filter.to_ns) where += fmt::format(" AND ts < {}", *filter.to_ns);
  if (suits && !filter.condition.empty()) where += " AND (" + filter.condition + "\n)";
  return fmt::format(
      R"(CREATE OR REPLACE TEMP TABLE part_intervals AS
         SELECT * FROM (
           SELECT i.*, c.category, {} AS inside FROM memory.main.intervals i
           LEFT JOIN (SELECT layer, name, min(category) AS category FROM memory.main.summary
                      WHERE category IS NOT NULL GROUP BY ALL) c USING (layer, name)){})",
      inside_sql(filter, wall), where);
}

// What summed calls copied into other files is in the sums alone, by when it was first and last
// done.
std::string targets_sql(const FilteredView& view, const RowFilter& filter, bool suits) {
  RowFilter named = filter;
  named.from_ns.reset();
  named.to_ns.reset();
  std::string where = where_sql(view, named);
  if (!suits) where += " AND false";
  if (!filter.condition.empty() && suits) where += " AND (" + filter.condition + "\n)";
  if (filter.from_ns) where += fmt::format(" AND \"first\" >= {}", *filter.from_ns);
  if (filter.to_ns) where += fmt::format(" AND \"last\" <= {}", *filter.to_ns);
  return "CREATE OR REPLACE TEMP TABLE summed_targets AS SELECT * EXCLUDE (tid) FROM ("
         "SELECT *, CAST(NULL AS INTEGER) AS tid FROM memory.main.summary)" +
         where + " AND calls = 0 AND layer IN (SELECT layer FROM summed_layers)";
}

// Layers whose sums come from intervals. One with single calls, too, has these; what was imported
// is not in sums at all.
constexpr char kSummed[] = R"(
  CREATE OR REPLACE TEMP TABLE summed_layers AS
  SELECT DISTINCT layer FROM memory.main.intervals
  WHERE layer IN (SELECT layer FROM memory.main.summary)
    AND layer NOT IN (SELECT DISTINCT layer FROM memory.main.events WHERE layer IS NOT NULL))";

std::string view_sql(const std::string& name, const std::string& columns,
                     const std::string& where) {
  return "CREATE OR REPLACE TEMP VIEW " + name + " AS SELECT " + columns +
         " FROM part_intervals WHERE " + where;
}

Result<std::vector<std::string>> words_of(Store& store, bool suits) {
  const std::string count = suits ? "FILTER (NOT inside)" : "";
  FATHOM_ASSIGN(const Table table, store.query("SELECT CAST(coalesce(sum(calls) " + count +
                                               ", 0) AS BIGINT) FROM part_intervals "
                                               "WHERE layer IN (SELECT layer FROM summed_layers)"));
  const auto* calls =
      table.rows.empty() ? nullptr : std::get_if<std::int64_t>(&table.rows[0][0].data);
  if (calls == nullptr || *calls == 0) return std::vector<std::string>();
  const std::string why = suits ? "their intervals extend beyond the time range"
                                : "the condition uses columns that only single calls have";
  return std::vector{"Left out: " + counted(*calls, "call") + " known only as sums (" + why + ")."};
}

}  // namespace

Result<std::vector<std::string>> show_intervals(Store& store, const RowFilter& filter) {
  FATHOM_ASSIGN(const FilteredView view, find_filtered_view("intervals"));
  FATHOM_ASSIGN(const std::int64_t wall, store.wall_ns());
  const bool suits = suits_sums(store, filter.condition);
  FATHOM_TRY(store.query(part_sql(view, filter, wall, suits)));
  FATHOM_TRY(store.query(kSummed));
  FATHOM_TRY(store.query(targets_sql(view, filter, suits)));
  const std::string where = suits ? "inside" : "false";
  FATHOM_TRY(store.query(view_sql("intervals", "* EXCLUDE (category, inside)", where)));
  FATHOM_TRY(store.query(view_sql("summed_intervals", "* EXCLUDE (inside)",
                                  where + " AND layer IN (SELECT layer FROM summed_layers)")));
  return words_of(store, suits);
}

}  // namespace fathom::analysis
