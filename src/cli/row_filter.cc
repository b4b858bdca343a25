// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/text.h"
#include "cli/row_cells.h"
#include "cli/store_stream.h"
#include "sql/quote.h"

namespace fathom::cli {
namespace {

constexpr FilteredView kViews[] = {
    {"events", "layer", "name", "ts", "ts + dur"},
    {"intervals", "layer", "name", "ts", "ts + width"},
    {"counters", "layer", "name", "ts", "ts"},
    {"samples", "'cpu'", "event", "ts", "ts"},
    {"processes", "", "", "", ""},
    {"threads", "", "", "", ""},
};

std::string one_of(std::string_view column, const std::vector<std::string>& values) {
  std::string sql = " AND " + std::string(column) + " IN (";
  for (const std::string& value : values) sql += sql::quote_literal(value) + ", ";
  return sql + "NULL)";
}

std::string like_one_of(std::string_view column, const std::vector<std::string>& patterns) {
  std::string sql = " AND (false";
  for (const std::string& pattern : patterns)
    sql += " OR " + std::string(column) + " GLOB " + sql::quote_literal(pattern);
  return sql + ")";
}

// Rows of all views that belong to a process or to none.
std::string everything_sql(const RowFilter& filter) {
  std::string sql;
  for (const FilteredView& view : kViews) {
    sql += (sql.empty() ? "SELECT host, pid FROM " : " UNION ALL SELECT host, pid FROM ") +
           std::string(view.name) + where_sql(view, filter);
  }
  return sql;
}

}  // namespace

bool RowFilter::any() const {
  return !layers.empty() || !names.empty() || !pids.empty() || from_ns || to_ns ||
         !condition.empty();
}

Result<FilteredView> find_filtered_view(std::string_view name) {
  std::vector<std::string> names;
  for (const FilteredView& view : kViews) {
    if (view.name == name) return view;
    names.emplace_back(view.name);
  }
  return usage_error("no table '" + escape_control(name) + "'", "there are " + join(names, ", "));
}

std::string where_sql(const FilteredView& view, const RowFilter& filter) {
  std::string sql = " WHERE true";
  if (!view.layer.empty() && !filter.layers.empty()) sql += one_of(view.layer, filter.layers);
  if (!view.called.empty() && !filter.names.empty()) sql += like_one_of(view.called, filter.names);
  if (!filter.pids.empty()) {
    sql += " AND pid IN (";
    for (const std::int64_t pid : filter.pids) sql += std::to_string(pid) + ", ";
    sql += "NULL)";
  }
  if (filter.without_process) sql += " AND pid IS NULL";
  if (filter.host) sql += " AND coalesce(host, '') = " + sql::quote_literal(*filter.host);
  if (filter.from_ns && !view.end.empty())
    sql += " AND " + std::string(view.end) + " >= " + std::to_string(*filter.from_ns);
  if (filter.to_ns && !view.begin.empty())
    sql += " AND " + std::string(view.begin) + " < " + std::to_string(*filter.to_ns);
  // On a line of its own: it may end in a comment.
  if (view.name == "events" && !filter.condition.empty())
    sql += " AND (" + filter.condition + "\n)";
  return sql;
}

Result<std::vector<std::pair<std::string, std::int64_t>>> processes_of(analysis::Store& store,
                                                                       const RowFilter& filter) {
  std::vector<std::pair<std::string, std::int64_t>> found;
  FATHOM_TRY(each_row(store,
                      "SELECT DISTINCT coalesce(host, ''), CAST(pid AS BIGINT) FROM (" +
                          everything_sql(filter) + ") WHERE pid IS NOT NULL ORDER BY ALL",
                      [&](RowCells cells) -> Status {
                        std::string host(cells.text());
                        found.emplace_back(std::move(host), cells.number_or_0());
                        return {};
                      }));
  return found;
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

}  // namespace fathom::cli
