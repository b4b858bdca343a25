// SPDX-License-Identifier: MIT
// The end of a Parquet file names its columns. A name stands there behind its length, in whatever
// order writers put the fields around it: to look for both is enough, and needs no reader of
// Thrift.
#include "analysis/missing_columns.h"

#include "analysis/contract.h"
#include "analysis/parquet_footer.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

bool is_named(std::string_view end, std::string_view column) {
  const std::string wanted = std::string(1, static_cast<char>(column.size())) + std::string(column);
  return end.find(wanted) != std::string_view::npos;
}

}  // namespace

std::string missing_columns(const trace::DataFile& file, std::string_view table, int schema) {
  const std::string end = parquet_footer(file.path);
  if (end.empty()) return "";
  std::vector<std::string> missing;
  for (const ViewSpec& view : recorded_views()) {
    if (view.name != table) continue;
    for (const ColumnSpec& column : view.columns) {
      if (column.role == ColumnRole::kAbsent || column.since > schema) continue;
      if (!is_named(end, column.name)) missing.emplace_back(column.name);
    }
  }
  if (missing.empty()) return "";
  const std::string last = missing.back();
  missing.pop_back();
  return missing.empty() ? "lacks column " + last
                         : "lacks columns " + join(missing, ", ") + " and " + last;
}

void set_incomplete_aside(std::vector<trace::Part>& parts) {
  for (trace::Part& part : parts) {
    for (auto& [table, files] : part.files) {
      std::erase_if(files, [&part, &name = table](const trace::DataFile& file) {
        const std::string reason = missing_columns(file, name, part.manifest.schema);
        if (!reason.empty()) part.damaged.push_back({.path = file.path, .reason = reason});
        return !reason.empty();
      });
    }
  }
}

}  // namespace fathom::analysis
