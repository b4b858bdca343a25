// SPDX-License-Identifier: MIT
// Whose rows a filter leaves: exports that split by process ask before they write, so that no file
// is made for a process without rows, and rows of nobody (a machine's counters) have a file, too.
#include "convert/row_cells.h"
#include "convert/store_stream.h"

namespace fathom::convert {
namespace {

// Rows of all views that belong to a process or to none.
std::string everything_sql(const RowFilter& filter) {
  std::string sql;
  for (const analysis::FilteredView& view : analysis::filtered_views()) {
    sql += (sql.empty() ? "SELECT host, pid FROM " : " UNION ALL SELECT host, pid FROM ") +
           std::string(view.name) + analysis::where_sql(view, filter);
  }
  return sql;
}

Result<Processes> processes_in(analysis::Store& store, const std::string& rows) {
  Processes found;
  FATHOM_TRY(each_row(store,
                      "SELECT DISTINCT coalesce(host, ''), CAST(pid AS BIGINT) FROM (" + rows +
                          ") WHERE pid IS NOT NULL ORDER BY ALL",
                      [&](RowCells cells) -> Status {
                        std::string host(cells.text());
                        found.emplace_back(std::move(host), cells.number_or_0());
                        return {};
                      }));
  return found;
}

}  // namespace

Result<Processes> processes_of(analysis::Store& store, const RowFilter& filter) {
  return processes_in(store, everything_sql(filter));
}

Result<Processes> processes_with_events(analysis::Store& store, const RowFilter& filter) {
  return processes_in(store,
                      "SELECT host, pid FROM events" +
                          analysis::where_sql(*analysis::find_filtered_view("events"), filter));
}

Result<bool> has_rows_without_process(analysis::Store& store, const RowFilter& filter) {
  if (!filter.pids.empty()) return false;
  bool found = false;
  FATHOM_TRY(each_row(store,
                      "SELECT pid FROM (" + everything_sql(filter) + ") WHERE pid IS NULL LIMIT 1",
                      [&](RowCells) -> Status {
                        found = true;
                        return {};
                      }));
  return found;
}

}  // namespace fathom::convert
