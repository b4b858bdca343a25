// SPDX-License-Identifier: MIT
// Filters become SQL here and nowhere else; values are quoted, and conditions of users are judged
// before they get here.
#include "analysis/row_filter.h"

#include <algorithm>

#include "analysis/contract.h"
#include "base/text.h"
#include "sql/quote.h"

namespace fathom::analysis {
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

std::string one_of(std::string_view column, const std::vector<std::int64_t>& values) {
  std::string sql = " AND " + std::string(column) + " IN (";
  for (const std::int64_t value : values) sql += std::to_string(value) + ", ";
  return sql + "NULL)";
}

// Of processes those that the threads belong to.
std::string of_threads(const FilteredView& view, const std::vector<std::int64_t>& tids) {
  std::string threads = one_of("tid", tids);
  if (view.name != "processes") return threads;
  return " AND (host, pid) IN (SELECT (host, pid) FROM memory.main.threads WHERE true" + threads +
         ")";
}

std::string like_one_of(std::string_view column, const std::vector<std::string>& patterns) {
  std::string sql = " AND (false";
  for (const std::string& pattern : patterns)
    sql += " OR " + std::string(column) + " GLOB " + sql::quote_literal(pattern);
  return sql + ")";
}

}  // namespace

bool RowFilter::any() const {
  return !layers.empty() || !names.empty() || !pids.empty() || !tids.empty() || !hosts.empty() ||
         from_ns || to_ns || !condition.empty();
}

std::span<const FilteredView> filtered_views() { return kViews; }

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
  if (!filter.pids.empty()) sql += one_of("pid", filter.pids);
  if (!filter.tids.empty()) sql += of_threads(view, filter.tids);
  if (!filter.hosts.empty()) sql += one_of("host", filter.hosts);
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

Status check_layers(const std::vector<std::string>& layers) {
  const auto known = layer_names();
  for (const std::string& layer : layers) {
    if (std::ranges::find(known, layer) != known.end()) continue;
    return usage_error("no layer '" + escape_control(layer) + "'",
                       "'fathom doctor' lists the layers");
  }
  return {};
}

}  // namespace fathom::analysis
